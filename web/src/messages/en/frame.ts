/** Text of the frame around every page, and of errors that can occur on any page. */
export const frame = {
  product: 'Berth',
  tagline: 'Your own containers, in your browser',
  documentTitle: '{page} · Berth',
  skip: 'Skip to the content',
  loading: 'Loading…',
  nav: {
    label: 'Pages',
    account: 'Account',
    containers: 'Your containers',
    sessions: 'Where you are signed in',
    tokens: 'API tokens',
    data: 'Your data',
    admin: 'Administration',
    signOut: 'Sign out',
    signingOut: 'Signing out…',
    stillSignedIn: 'You are still signed in.',
  },
  language: { label: 'Language', en: 'English', de: 'Deutsch' },
  help: 'Help:',
  imprint: 'Imprint',
  privacy: 'Privacy',
  notices: 'Notices',
  problem: {
    late: 'Berth did not answer in time. It may still be working on it: wait a moment, then try again.',
    unreachable: 'Berth cannot be reached. Check your connection, then try again.',
    bug: 'A program error occurred on this page. Reload it and try again.',
    tryAgain: 'Try again',
  },
  connectivity: {
    offline:
      'This device is offline. What you see may be out of date. The page updates by itself when the connection is back.',
    unreachable:
      'Berth cannot be reached at the moment. Your containers are not affected. The page updates by itself when Berth answers again.',
    back: 'Berth can be reached again.',
  },
  notFound: {
    title: 'Page not found',
    what: 'No page has this address. It may be mistyped, or the link is out of date.',
    todo: 'Check the address, or go to the start page.',
    button: 'Go to the start page',
  },
  forbidden: {
    title: 'Access denied',
    what: 'This page is for administrators, and your account has no administrator rights.',
    todo: 'If you need them, ask an administrator.',
    button: 'Go to your containers',
  },
  broken: {
    title: 'Error on this page',
    what: 'A program error stopped this page. Your containers and files are not affected.',
    todo: 'Reload it. If it fails again, tell your administrator what you did before.',
    button: 'Reload the page',
  },
  outdated: {
    title: 'A part of this page could not be loaded',
    what: 'Berth was updated, or cannot be reached at the moment. Your containers and files are not affected.',
    todo: 'Reload the page to get the current version.',
    button: 'Reload the page',
  },
} as const
