# tries: a link to the folder of another student's lab
# earns:
# quick
# said: There is no 00-attacked.ipynb
# %% folder
shutil.rmtree(folder)
folder.symlink_to(f"{places['hand_ins']}/first/{folder.name}")
