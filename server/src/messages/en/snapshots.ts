/** What is said of snapshots of homes: refusals and answers. */
export const snapshots = {
  off: 'Snapshots are switched off here.',
  noHome: 'Containers of this type have no home folder.',
  stopFirst: 'The container runs. Stop it first, so that nothing changes its files meanwhile.',
  tooLarge: 'The home folder is larger than a snapshot may be. Delete what you do not need, or ask your administrator.',
  failed:
    'The home folder could not be read or written. Nothing of yours was changed; try again, or ask your administrator.',
  noHomeYet: 'There are no files yet: launch the container once.',
  reset: 'The home folder is as new with the next launch. What was in it is in a snapshot.',
  made: 'The snapshot is made.',
  removed: 'The snapshot is removed.',
  restored: 'The files are in the folder {folder} of the home folder. Nothing was overwritten.',
} as const
