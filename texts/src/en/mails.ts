/** The mails with links. Nothing in them is markup: what becomes HTML is escaped after it was put together. */
export const mails = {
  signupSubject: 'Finish signing up to {product}',
  signupIntro: 'Welcome to {product}. Open this link to finish signing up:',
  signupButton: 'Finish signing up',
  invitedSubject: 'You are invited to {product}',
  invitedIntro: 'You are invited to {product}: {by} has made an account for you. Open this link to use it:',
  invitedButton: 'Open your account',
  loginSubject: 'Sign in to {product}',
  loginIntro: 'Open this link to sign in to {product}:',
  loginButton: 'Sign in',
  copy: 'Or copy this address into your browser:',
  lasts: 'The link works once, within {duration}.',
  days: '{count, plural, one {{count} day} other {{count} days}}',
  hours: '{count, plural, one {{count} hour} other {{count} hours}}',
  minutes: '{count, plural, one {{count} minute} other {{count} minutes}}',
  seconds: '{count, plural, one {{count} second} other {{count} seconds}}',
  asked:
    'You get this mail because {to} was entered at {product}{whence}, probably by you. If it was not you, do nothing: without the link nothing happens.',
  invited:
    'You get this mail because {by} invited {to} to {product}. If you do not know why, do nothing: without the link nothing happens.',
  sent: 'You get this mail because {by} had this link sent to {to}. If you do not know why, do nothing: without the link nothing happens.',
  operator: 'the operator of {product}',
  withBrowser: ', with {browser}',
  fromAddress: ', from the address {address}',
  browserOnSystem: '{browser} on {system}',
} as const
