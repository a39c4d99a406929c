/** Text of the page with the API tokens of all users. */
export const tokens = {
  about:
    'API tokens of all users, newest first. The tokens themselves are known to their owners alone. Blocking or deleting a user removes theirs.',
  filter: {
    title: 'Filter',
    user: 'Owner',
    userHint: 'E-mail address or number',
    show: 'Show',
    clear: 'Show all',
  },
  list: 'API tokens',
  owner: 'of <user></user>',
  none: 'No API tokens yet.',
  noneOf: 'This user has no API tokens.',
  more: 'Show more',
  loadingMore: 'Loading…',
  remove: {
    open: 'Remove',
    openThis: 'Remove the API token {name} of {email}',
    title: 'Remove the API token {name}?',
    effect: 'Programs of {email} that use it are refused from then on. It cannot be brought back.',
    confirm: 'Remove',
    busy: 'Removing…',
  },
} as const
