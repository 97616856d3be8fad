# tries: a link to the folder of another student's lab
# earns: nothing at all
# quick
# %% folder
shutil.rmtree(folder)
folder.symlink_to(f"{places['hand_ins']}/first/{folder.name}")
