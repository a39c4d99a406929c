/** Words of the page about snapshots of homes. */
export const snapshots = {
  title: 'Snapshots of your files',
  lead: 'A snapshot keeps your home folder as it is. The three newest are kept, and one that is about a week old.',
  off: 'Snapshots are switched off here.',
  nothingLaunched: 'Launch a container first: then it has a home folder.',
  none: 'No snapshot yet. One is made by itself before the container gets another image.',
  take: 'Make a snapshot',
  takeThis: 'Make a snapshot of {name}',
  busy: 'At work… A large home folder takes some minutes.',
  manual: 'Made by you, {size}',
  image: 'Made before another image, {size}',
  reset: 'Made before a reset, {size}',
  restore: 'Restore',
  restoreThis: 'Restore the snapshot of {at}',
  remove: 'Remove',
  removeThis: 'Remove the snapshot of {at}',
  askRemove: {
    title: 'Remove the snapshot of {at}?',
    effect: 'It cannot be restored any more. Your home folder stays as it is.',
  },
  resetHome: 'Reset to the starter files',
  resetThis: 'Reset the home folder of {name} to the starter files',
  askReset: {
    title: 'Reset the home folder of {name}?',
    effect:
      'A snapshot is made first. Then the home folder is removed: the next launch begins with the starter files. The container must be stopped.',
    confirm: 'Reset',
  },
  ask: {
    title: 'Restore this snapshot?',
    effect:
      'The files go into a new folder of your home folder. Nothing that is there is changed. The container must be stopped.',
    path: 'Only this folder or file',
    hint: 'Such as notes/2026; empty for everything',
    cancel: 'Cancel',
  },
} as const
