/** What is said of snapshots of homes: refusals and answers. */
export const snapshots = {
  off: 'Snapshots are switched off here.',
  noHome: 'Containers of this type have no home folder.',
  stopFirst: 'The container runs. Stop it first, so that nothing changes its files meanwhile.',
  elsewhere: 'The home of this type is a folder of a file server, which Berth does not keep snapshots of.',
  homeHasTypes: 'A type has this home. Reset it on the page of its snapshots.',
  homeInUse:
    'A container still has this home. Restart the container of its type, which then has the shared home, and remove this one after that.',
  formerRemoved: 'The home is removed.',
  stopAllFirst:
    'Containers of types that share this home are running: {names}. Stop them first: then all of them have this home, and nothing changes its files meanwhile.',
  tooLarge: 'The home folder is larger than a snapshot may be. Delete what you do not need, or ask your administrator.',
  failed:
    'The home folder could not be read or written. Nothing of yours was changed; try again, or ask your administrator.',
  diskFull: 'There is no room for it on the disk of the server. Nothing of yours was changed; tell your administrator.',
  unfinished:
    'The files could not be restored completely now. A part of them is in the new folder; the rest follows by itself while the container is stopped.',
  resetUnfinished:
    'The snapshot is made, but the home folder could not be removed now. That follows by itself, before the container is launched again.',
  needsService: 'Berth does not run. Start it first: it keeps the container from being launched meanwhile.',
  tooMany: 'Too many home folders are being read or written at the moment. Try again in a minute.',
  noFile: 'This is neither a file nor a folder, so it cannot be downloaded.',
  noFilesHere: 'Files of stopped containers cannot be read here. Ask your administrator.',
  mountPoint: 'A folder of a group, or one of the operator, is shown at this path, so it cannot be deleted.',
  fileRemoved: '{path} is deleted.',
  ownerChanged: '{changed, number} of {seen, number} files and folders belong to the new account now.',
  ownerKept:
    'Nothing needs to be changed: on this engine every program is a member of the group that owns its home, so that it can write there.',
  ownerFailed:
    'Not all files could be given to the new account; the log says which and why. What was changed stays so: call it again, which completes what is left.',
  noProblem:
    'No program is known that cannot write to this home. Say to which account the home is to belong: --to, as uid or uid:gid.',
  noHomeYet: 'There are no files yet: launch the container once.',
  reset: 'The home folder is as new with the next launch. What was in it is in a snapshot.',
  made: 'The snapshot is made.',
  removed: 'The snapshot is removed.',
  restored: 'The files are in the folder {folder} of the home folder. Nothing was overwritten.',
  badArchive: 'This is no complete archive. Send a file that tar made: .tar or .tar.gz.',
  badName: 'The archive has an entry that does not belong below one folder: {name}. Nothing was unpacked.',
  fileAndFolder: 'The archive has {name} twice, as a file and as a folder. Nothing was unpacked.',
  longHeader:
    'The archive has an entry whose name or attributes are longer than a file system takes. Nothing was unpacked.',
  missingTarget: 'The archive has a hard link to what does not come before it: {name}. Nothing was unpacked.',
  sparseArchive:
    'The archive has sparse files or is in several parts. Make it anew without --sparse and --multi-volume.',
  tooManyFiles: 'The archive has more than {max, number} entries. Send it in parts.',
  tooManyFolders: 'The archive has too many folders and links. Send it in parts.',
  tooMuchMetadata:
    'Names and attributes of the entries take more room in the archive than such an archive needs. Leave attributes out, or send it in parts.',
  uploadTooLarge: 'The archive has more than {size} when it is unpacked, which is the limit. Send it in parts.',
  noRoom: 'There is only room for {size} more in your home folders. Delete what you do not need first.',
  uploadStopped: 'The archive did not arrive: nothing came for a while, or it took too long. Nothing was unpacked.',
  uploadTooSlow:
    'The archive came too slowly: {size} a minute have to arrive at least. Nothing was unpacked. Use a faster line, or send less at a time.',
  uploadUnderWay: 'An archive for this home folder is being sent already. Wait until it is there.',
  uploaded: 'The files are in the folder {folder} of the home folder. Nothing was overwritten.',
  tooManyDownloads: 'You have too many downloads at a time. Wait until one of them is done.',
} as const
