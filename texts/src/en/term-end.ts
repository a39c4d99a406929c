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
