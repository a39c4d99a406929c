/** Text of the page with the templates. */
export const templates = {
  about:
    'What users can launch, as the file of templates says. After a change of a template or its image, a container gets the new version at its next start from stopped; what runs keeps the old one.',
  list: 'Templates',
  version: 'Version {version}',
  noImage: 'The engine does not have this image yet',
  pulled: 'Pulled or built <at></at>',
  upToDate: 'No container of an older version runs.',
  older: '{count, plural, one {# container of an older version runs.} other {# containers of an older version run.}}',
  asked: '{count, plural, one {# owner is asked to restart.} other {# owners are asked to restart.}}',
  owners: 'Owners who run an older version of {type}',
  all: 'All containers of {type}',
  more: 'and {count} more',
  mode: {
    busy: 'Updating…',
    when_stopped: {
      open: 'Update when stopped',
      openThis: 'Update containers of {type} when they are stopped',
      title: 'Update {type} when stopped?',
      effect:
        'Owners are not asked to restart any more. Each container gets the new version at its next start from stopped.',
    },
    ask: {
      open: 'Ask',
      openThis: 'Ask owners of {type} to restart',
      title: 'Ask {count, plural, one {# owner} other {# owners}} of {type} to restart?',
      effect: 'Their dashboard says that a new version is ready, and that a restart brings it. Nothing is stopped.',
    },
    now: {
      open: 'Update now',
      openThis: 'Update containers of {type} now',
      title: 'Replace {count, plural, one {# container} other {# containers}} of {type} now?',
      effect:
        'Programs in them end at once, and what is not saved is lost. Files in homes stay. Containers that run are made anew; paused ones are stopped.',
    },
  },
} as const
