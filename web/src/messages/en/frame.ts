/** Words of the frame around every page, and of what can go wrong anywhere. */
export const frame = {
  product: 'Berth',
  tagline: 'Containers of your own, ready in your browser',
  documentTitle: '{page} · Berth',
  skip: 'Skip to the content',
  loading: 'One moment…',
  nav: {
    label: 'Pages',
    account: 'Account',
    containers: 'Your containers',
    sessions: 'Where you are signed in',
    admin: 'Administration',
    signOut: 'Sign out',
    signingOut: 'Signing out…',
    stillSignedIn: 'You are still signed in.',
  },
  language: { label: 'Language', en: 'English', de: 'Deutsch' },
  help: 'Help:',
  problem: {
    late: 'Berth did not answer in time. It may still be working on it: wait a moment, then try again.',
    unreachable: 'Berth cannot be reached. Check your connection, then try again.',
    bug: 'Something went wrong in this page. Reload it and try again.',
    tryAgain: 'Try again',
  },
  away: {
    offline:
      'This device is offline. What you see may be out of date; it goes on by itself when the connection is back.',
    unreachable:
      'Berth cannot be reached just now. Your containers are not affected by this page; it goes on by itself when Berth answers again.',
    back: 'Berth can be reached again.',
  },
  notFound: {
    title: 'There is nothing here',
    what: 'No page has this address. It may have been mistyped, or the link is an old one.',
    todo: 'From the start page you reach everything there is.',
    button: 'Go to the start page',
  },
  forbidden: {
    title: 'This is for administrators',
    what: 'You are signed in, but this account does not administer Berth.',
    todo: 'If it should, ask an administrator to make you one.',
    button: 'Go to your containers',
  },
  broken: {
    title: 'This page has failed',
    what: 'Something in it went wrong. Your containers and files are not affected.',
    todo: 'Reload it. If it fails again, tell your administrator what you did before.',
    button: 'Reload the page',
  },
  outdated: {
    title: 'A part of this page could not be loaded',
    what: 'Berth was updated, or cannot be reached just now. Your containers and files are not affected.',
    todo: 'Reload the page to get the current one.',
    button: 'Reload the page',
  },
} as const
