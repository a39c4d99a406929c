/** How far a launch is, and why it failed; for the owner. */
export const launches = {
  engine: 'The container engine does not answer at the moment. Nothing is lost; try again in a minute.',
  full: 'The server has no room for another container now. Nothing is lost; try again in a few minutes.',
  noImage:
    'The image of this container is not on this server and could not be fetched. Ask your administrator to provide it.',
  outOfMemory:
    'The program in this container needed more memory than it may use, so it was ended. Ask your administrator for more.',
  crashed: 'The program in this container ended as soon as it was started. The last lines of its output may say why.',
  crashedWith:
    'The program in this container ended as soon as it was started (exit code {exitCode}). The last lines of its output may say why.',
  notExecutable:
    'The program of this container cannot be executed: its image, or the command it is started with, is wrong. Ask your administrator.',
  ended: 'Its program ended by itself. The logs may say why.',
  endedWith: 'Its program ended by itself (exit code {exitCode}). The logs may say why.',
  commandMissing:
    'A command was not found in this container, or could not be run (exit code {exitCode}). The last lines of its output may name it. Starting it again does not help: ask your administrator.',
  failed: 'The container could not be started. Try again, or ask your administrator.',
  starterFiles:
    'The files that belong into this container could not be fetched, so it was not started. Nothing of yours has changed. Ask your administrator: the log of the server says what is wrong.',
  waits: 'Your container is in the launch queue: position {place} of {waiting}.',
  pulling: 'The image of your container is still being fetched: {done} of {total} layers are here.',
  starting: 'Your container is still being started.',
} as const
