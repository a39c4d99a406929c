/** Words of the page where people see where they are signed in. */
export const sessions = {
  title: 'Where you are signed in',
  lead: 'Every browser and program that may use your account. End what you do not know, or do not need any more.',
  loading: 'Looking up where you are signed in…',
  current: 'This browser',
  /** As the server says it, e.g. `Firefox on Windows`, taken apart. */
  browserOn: '{browser} on {system}',
  unknown: 'A program, or a browser that is not known',
  since: 'Since <since></since>',
  from: 'from {address}',
  until: 'ends <until></until> at the latest',
  end: 'End',
  endThis: 'End the session: {name}',
  others: 'End all others',
  othersHint: 'You stay signed in here.',
  alone: 'You are signed in nowhere else.',
  ended: '{count, plural, one {One session is ended.} other {# sessions are ended.}}',
  takeovers: 'Who acted for you',
  takeoversLead:
    'Administrators can act for you for at most a quarter of an hour, and have to say why. You see the last 30 days.',
  acts: '{by} acts for you now',
  acted: '{by} acted for you',
  reason: 'Reason: {reason}',
  span: '<from></from> to <to></to>',
  untilThen: 'Since <since></since>, until <until></until> at the latest',
} as const
