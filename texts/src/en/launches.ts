/** How far a launch is, and why it failed; for the owner. */
export const launches = {
  homeNotWritable:
    'You cannot save files in your home: the program of this container runs as account {program}, and the home belongs to account {owner}. What you save elsewhere in the container is lost with it. Tell your administrator, who can stop the container and call `berth homes chown {id}`, which gives the home to the account of the program, or run this type as account {owner}.',
  fullLayer:
    'This container was stopped, because it had written {used} outside of your home folder: more than it may. Its next launch makes it anew, without these files; the files in your home folder are kept.',
  homeSilent:
    'The file server with your home does not answer, so the program of this container can neither read nor save files there now. Your files are kept there. If that lasts longer than a few minutes, tell your administrator.',
  homeStale:
    'This container has lost its connection to your home on a file server, which was replaced or mounted anew: its program can neither read nor save files there. Restart the container; if that does not help, tell your administrator.',
  engine: 'The container engine does not answer at the moment. Nothing is lost; try again in a minute.',
  full: 'The server has no room for another container now. Nothing is lost; try again in a few minutes.',
  fullOf:
    'The cluster has no room for another container now, because a quota is used up: {limit}. Nothing is lost; stop a container that you do not need, or ask your administrator.',
  evicted:
    'The cluster ended your container: the machine that it ran on was shut down, emptied or short of memory or disk. Your program did nothing wrong. What was in its memory is lost; the files in its home folder are kept, and the next launch starts it elsewhere.',
  evictedAtLimit:
    'The cluster ended your container, because it had written more outside of your home folder than it may. The next launch starts it anew, without these files; the files in your home folder are kept.',
  nodeLost:
    'The machine that your container ran on does not answer, so it is not known whether your program has ended, and a second one must not write to the same files. Your files are kept. It starts again as soon as the machine is back or your administrator has removed it from the cluster.',
  noImage:
    'The image of this container is not on this server and could not be fetched. Ask your administrator to provide it.',
  outOfMemory:
    'The program in this container needed more memory than it may use, so it was ended. Ask your administrator for more.',
  crashed: 'The program in this container ended as soon as it was started. The last lines of its output may say why.',
  crashedWith:
    'The program in this container ended as soon as it was started (exit code {exitCode}). The last lines of its output may say why.',
  notExecutable:
    'The program of this container cannot be executed: its image, or the command it is started with, is wrong. Ask your administrator.',
  noCommand:
    'The image of this container names no program, and neither does its template (`command`), so there is nothing to start. Ask your administrator.',
  ended: 'Its program ended by itself. Its owner may find the reason under Logs.',
  endedWith: 'Its program ended by itself (exit code {exitCode}). Its owner may find the reason under Logs.',
  commandMissing:
    'A command was not found in this container, or could not be run (exit code {exitCode}). The last lines of its output may name it. Starting it again does not help: ask your administrator.',
  failed: 'The container could not be started. Try again, or ask your administrator.',
  folderSilent:
    'A file server with folders of this container, such as your home, does not answer. Your files are kept there. Start it again in a few minutes; if that does not help, tell your administrator.',
  folderMissing:
    'A folder of this container, such as your home on a file server, is missing or cannot be used, so it was not started. Tell your administrator: the log of the server names the folder.',
  placeTaken:
    'A folder is shown at {path} in this container, and what lies there now, or above it, is no folder, so the container was not started. Your files are as they were. Under Files on its card, download what lies there if you need it, and delete it; then start the container again.',
  starterFiles:
    'The files that belong into this container could not be fetched, so it was not started. Nothing of yours has changed. Ask your administrator: the log of the server says what is wrong.',
  waitsForGpu: 'All GPUs are in use. Your container waits for one: position {place} of {waiting}.',
  waits: 'Your container is in the launch queue: position {place} of {waiting}.',
  pulling: 'The image of your container is still being fetched: {done} of {total} layers are here.',
  starting: 'Your container is still being started.',
} as const
