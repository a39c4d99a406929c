/** Text of a launch: its stages, on a card of the dashboard and on its own page. */

export const stages = {
  title: 'Steps of the launch',
  queued: 'In the queue',
  pulling: 'Downloading the image',
  creating: 'Creating the container',
  starting: 'Starting the container',
  waiting: 'Waiting for the app',
} as const

export const stage = {
  queued: 'In the queue: position {place} of {waiting}',
  pulling:
    'Downloading the image{detail, select, none {} layers {: {done} of {total, plural, one {# layer} other {# layers}}} other {: {done} of {total, plural, one {# layer} other {# layers}}, {part} of {whole} {unit}}}',
  creating: 'Creating the container',
  starting:
    '{detail, select, node {Waiting for a server with room} volume {Waiting for the storage of your files} other {Starting the container}}',
  waiting: 'Waiting for the app',
} as const

export const launch = {
  title: 'Starting your container',
  failedTitle: 'Your container was not started',
  readyTitle: 'Your container is running',
  starting: 'It is starting. This page opens it as soon as it is ready.',
  staying: 'It is starting.',
  ready: 'It is running.',
  going: 'It is running. Opening it…',
  dashboard: 'Go to your containers',
  firstLaunch: 'The first time this can take a minute.',
  stay: 'Stay here',
  open: 'Open',
  noType: 'This link does not name a container. Choose one here.',
  signInAgain: 'Berth cannot confirm that you opened this page yourself. Sign in to start the container.',
  signIn: 'Sign in to start your container',
} as const
