/** Words of the frame around every page, and of what can go wrong anywhere. */
export const frame = {
  product: 'Berth',
  tagline: 'Containers of your own, ready in your browser',
  documentTitle: '{page} · Berth',
  nav: {
    label: 'Pages',
    containers: 'Your containers',
    sessions: 'Where you are signed in',
    admin: 'Administration',
    signOut: 'Sign out',
    signingOut: 'Signing out…',
    stillSignedIn: 'You are still signed in.',
  },
  language: { label: 'Language', en: 'English', de: 'Deutsch' },
  problem: {
    late: 'Berth did not answer in time. It may still be working on it: wait a moment, then try again.',
    unreachable: 'Berth cannot be reached. Check your connection, then try again.',
    bug: 'Something went wrong in this page. Reload it and try again.',
    tryAgain: 'Try again',
  },
} as const
