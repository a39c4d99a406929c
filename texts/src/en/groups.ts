/** What is said of groups: refusals, answers and warnings. */
export const groups = {
  groupNotFound: 'There is no such group.',
  memberNotFound: 'This user is not a member of the group.',
  unknownZone: 'There is no time zone {zone}. Name one as Europe/Berlin.',
  unknownDate: 'There is no day {date}. Write it as 2026-12-24.',
  invitationNotFound: 'There is no such invitation; it may have been accepted.',
  invitationNotMailed:
    'The mail was not sent: the mail server did not accept it, or the address had too many mails within the hour. The invitation stays; try again later.',
  failureNotFound: 'There is no failed start of this container, or it is longer ago than ten minutes.',
  memberBlocked: 'This account is blocked, so its containers are not started. Ask an administrator.',
  memberMayNot:
    'This user may not start containers of this type now: it is for other groups, or another group of the user has ended. Ask an administrator.',
  joinCodeNotFound: 'No group has this code. Check its spelling, or ask for a new one: codes expire.',
  notManager: 'Only managers of this group and administrators may do this.',
  tooManyInvitations:
    'Too many invitations: at most {max} mails within an hour. These addresses were neither added nor invited. Invite them later, ask an administrator, or give out a join code.',
  tooManyCodes: 'Too many wrong codes: at most {max} a minute. Try again in a moment.',
  typeOfGroups:
    'This container type is for members of certain groups only. If you have a join code, enter it; otherwise ask your administrator.',
  expired:
    'The group {group} has ended, so its containers are not started any more. Your files are kept; ask your administrator if you need them.',
  tooManyRunning:
    'The group {group} allows each member {max, plural, one {{max} running container} other {{max} running containers}}. Stop another one first.',
  tooMuchMemory:
    'The group {group} allows the containers of a member {max} of memory together, and this one needs {needed}. Stop another one first.',
  tooManyCpus:
    'The group {group} allows the containers of a member {max} cores together, and this one needs {needed}. Stop another one first.',
  tooManyGpus:
    'The group {group} allows the containers of a member {max, plural, one {{max} GPU} other {{max} GPUs}} together, and this one needs {needed}. Stop another one first.',
  gpusTooFew:
    'The group {group} allows the containers of a member {max, plural, one {{max} GPU} other {{max} GPUs}} together, and this one alone needs {needed}. Ask your administrator.',
  memoryTooSmall:
    'The group {group} allows the containers of a member {max} of memory together, and this one alone needs {needed}. Ask your administrator.',
  cpusTooFew:
    'The group {group} allows the containers of a member {max} cores together, and this one alone needs {needed}. Ask your administrator.',
  tooMuchDisk:
    'Your files take {used} of the {max} that the group {group} allows. Delete some under “Files” on the card of a stopped container, or ask your administrator for more room.',
  tooMuchDiskBut:
    'Your files take {used} of the {max} that the group {group} allows. Delete some in {name}, which still starts, or under “Files” on the card of a stopped container, or ask your administrator for more room.',

  nameTaken: 'There is a group with this name already. Choose another name.',
  folderNameTaken: 'Another group has a folder with this name. Choose another name.',
  folderNotFound: 'The group has no folder.',
  folderRemoved: 'The folder is taken away. What is in it is kept, and is there again when the group gets a folder.',
  folderPurged: 'The folder is taken away. What is in it is removed as soon as no container runs with it.',
  unknownTypes: 'There are no such container types: {types}. Known types: {known}.',
  providerName: 'The provider {source} names this group, so its name cannot be changed here.',
  providerMembers: 'The provider {source} says who is in this group, so its members cannot be changed here.',
  providerMembership: 'The provider {source} says that this user is in the group, at each sign-in. Change it there.',
  groupOver: 'This group has ended, so there is nothing to join. Ask the person who gave you the code for another one.',

  deleted: 'The group is deleted. Its users, their containers and homes stay.',
  invitationWithdrawn: 'The invitation is withdrawn.',
  invitationResent: 'A new mail was sent to {email}.',
  memberRemoved: 'The user is not a member any more.',
  joinCodeRemoved: 'The join code does not work any more.',
  stopped:
    '{count, plural, =0 {No container ran.} one {{count} container is stopped.} other {{count} containers are stopped.}}',
  stoppedBut:
    '{count, plural, =0 {No container is stopped yet.} one {{count} container is stopped.} other {{count} containers are stopped.}}{failed, plural, =0 {} one { One could not be stopped: the container engine did not do it. Try again.} other { {failed} could not be stopped: the container engine did not do it. Try again.}}{underWay, plural, =0 {} one { One is still being stopped.} other { {underWay} are still being stopped.}}',
  starting:
    '{count, plural, =0 {All containers of this type run already.} one {The start of one container was requested.} other {The start of {count} containers was requested.}}',
  startingBut:
    '{count, plural, =0 {No start was requested.} one {The start of one container was requested.} other {The start of {count} containers was requested.}} Not started: {refused}. {why}',
  whyInRows: 'The list of members says why.',
  restarting: 'The container is being restarted.',
  blocked: '{count, plural, one {{count} container} other {{count} containers}} blocked.',
  unblocked: '{count, plural, one {{count} container} other {{count} containers}} unblocked.',

  unknownInTemplates:
    'Templates name groups that do not exist: {names}. Until they do, only administrators may launch these types, unless another group is named, too.',
  invitedSubject: 'You are invited to {group} on {product}',
  invitedIntro:
    'You are invited to the group {group} on {product}: {by} has made an account for you. Open this link to use it:',
  invited:
    'You get this mail because {by} invited {to} to the group {group} on {product}. If you do not know why, do nothing: without the link nothing happens.',
} as const

/** What is said of the end of a term: refusals, answers and the mail with the link to archives. */
export const termEnd = {
  engineCannot: 'This engine does not let Berth read homes, so they cannot be archived. Nothing was changed.',
  engineSilent: 'The engine does not answer, so the homes are not known. Nothing was changed; try again.',
  nodesNeedFolder:
    'With several nodes, archives need a folder that all nodes share. The operator sets it as ARCHIVE_DIR. Nothing was changed.',
  badDates: 'Archives have to be kept for longer than until the removal, and for two years at most.',
  noRoom:
    'The homes have {needed}, and the disk of the archives has {free} left. Make room or set ARCHIVE_DIR to another disk. Nothing was changed.',
  underWay: 'An end of term of this group is under way. Wait for it, or cancel it, first.',
  none: 'No end of term of this group is under way.',
  tooLate: 'The removal has begun, so the end of term cannot be cancelled any more.',
  nothingFailed: 'Everything is done; nothing has failed.',
  groupGoesOn:
    'The group has been given a later end or none, so nothing of its members is removed. Begin a new end of term when the group is over.',
  late: 'The date until which archives were kept has passed, and what was left stays as it is. Begin a new end of term.',
  notOver: 'The end of term is not over for this member. Wait for it, or cancel it, first.',
  memberForgotten: 'The archives of this member are deleted, and the address with them.',
  cancelled: 'The end of term is cancelled. The archives are deleted, and the group ends when it did before.',
  mailSubject: '{group}: download your files',
  mailIntro: '{group} at {product} has ended. Your files were archived. Open this link to download them:',
  mailUntil: 'The archive is deleted on {date}.',
  mailAccount: 'The account {to} and its files at this service are removed from {date} on.',
  mailWhy:
    'You get this mail because {to} is a member of {group} at {product}. Any person who has this link can download the files: do not pass it on.',
  mailButton: 'Download your files',
  tooManyDownloads: 'These files were downloaded {max} times, which is as often as the link allows.',
  archiveNotFound:
    'There is no archive behind this link: it was deleted, the end of term was cancelled, or the link is incomplete.',
} as const
