import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the frame around every page, and of errors that can occur on any page. */
export const frame = {
  product: 'Berth',
  tagline: 'Your own containers, in your browser',
  documentTitle: '{page} · Berth',
  skip: 'Skip to the content',
  close: 'Close',
  loading: 'Loading…',
  nav: {
    label: 'Pages',
    account: 'Account',
    containers: 'Your containers',
    sessions: 'Where you are signed in',
    tokens: 'API tokens',
    sshKeys: 'SSH keys',
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
  signInAgain: {
    text: 'You can view this page, but to change anything you have to sign in again: without https a sign-in ends when you leave its page.',
    link: 'Sign in again',
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

/** Text of impersonation (takeover): for the administrator who acts, and for the user. */
export const takeover = {
  label: 'You act for another user',
  /** A user whose address is not loaded yet. */
  anotherUser: 'another user',
  acting: 'You act for <b>{whom}</b>, and they are informed.',
  left: 'It ends in {time}.',
  minutesLeft:
    '{minutes, plural, one {You act for {whom} for one more minute.} other {You act for {whom} for # more minutes.}}',
  end: 'End',
  ending: 'Ending…',
  note: '<b>{by}</b> acts for you until {until}. Their reason: {reason}',
  noteLink: 'View or end it',
} as const

export const germanFrame: InOtherWords<typeof frame> = {
  product: 'Berth',
  tagline: 'Deine eigenen Container, im Browser',
  documentTitle: '{page} · Berth',
  skip: 'Zum Inhalt springen',
  close: 'Schließen',
  loading: 'Wird geladen…',
  nav: {
    label: 'Seiten',
    account: 'Konto',
    containers: 'Deine Container',
    sessions: 'Wo du angemeldet bist',
    tokens: 'API-Token',
    sshKeys: 'SSH-Schlüssel',
    data: 'Deine Daten',
    admin: 'Verwaltung',
    signOut: 'Abmelden',
    signingOut: 'Du wirst abgemeldet…',
    stillSignedIn: 'Du bist noch angemeldet.',
  },
  language: { label: 'Sprache', en: 'English', de: 'Deutsch' },
  help: 'Hilfe:',
  imprint: 'Impressum',
  privacy: 'Datenschutz',
  notices: 'Hinweise',
  problem: {
    late: 'Berth hat nicht rechtzeitig geantwortet. Vielleicht arbeitet es noch daran: Warte einen Moment und versuche es dann noch einmal.',
    unreachable: 'Berth ist nicht erreichbar. Prüfe deine Verbindung und versuche es dann noch einmal.',
    bug: 'Auf dieser Seite ist ein Programmfehler aufgetreten. Lade sie neu und versuche es noch einmal.',
    tryAgain: 'Noch einmal versuchen',
  },
  signInAgain: {
    text: 'Du kannst diese Seite ansehen, aber um etwas zu ändern, musst du dich neu anmelden: Ohne https endet eine Anmeldung, sobald du ihre Seite verlässt.',
    link: 'Neu anmelden',
  },
  connectivity: {
    offline:
      'Dieses Gerät ist offline. Was du siehst, kann veraltet sein. Die Seite aktualisiert sich von selbst, sobald die Verbindung wieder da ist.',
    unreachable:
      'Berth ist gerade nicht erreichbar. Deine Container betrifft das nicht. Die Seite aktualisiert sich von selbst, sobald Berth wieder antwortet.',
    back: 'Berth ist wieder erreichbar.',
  },
  notFound: {
    title: 'Seite nicht gefunden',
    what: 'Unter dieser Adresse gibt es keine Seite. Vielleicht ist sie vertippt, oder der Link ist veraltet.',
    todo: 'Prüfe die Adresse oder geh zur Startseite.',
    button: 'Zur Startseite',
  },
  forbidden: {
    title: 'Zugriff verweigert',
    what: 'Diese Seite ist für Administratoren, und dein Konto hat keine Administratorrechte.',
    todo: 'Wenn du sie brauchst, wende dich an einen Administrator.',
    button: 'Zu deinen Containern',
  },
  broken: {
    title: 'Fehler auf dieser Seite',
    what: 'Ein Programmfehler hat diese Seite unterbrochen. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade sie neu. Wenn es wieder passiert, sag deinem Administrator, was du vorher getan hast.',
    button: 'Seite neu laden',
  },
  outdated: {
    title: 'Ein Teil dieser Seite konnte nicht geladen werden',
    what: 'Berth wurde aktualisiert oder ist gerade nicht erreichbar. Deine Container und Dateien betrifft das nicht.',
    todo: 'Lade die Seite neu, um die aktuelle Version zu bekommen.',
    button: 'Seite neu laden',
  },
}

export const germanTakeover: InOtherWords<typeof takeover> = {
  label: 'Du handelst für eine andere Person',
  anotherUser: 'eine andere Person',
  acting: 'Du handelst für <b>{whom}</b>, und die Person wird darüber informiert.',
  left: 'Das endet in {time}.',
  minutesLeft:
    '{minutes, plural, one {Du handelst noch eine Minute für {whom}.} other {Du handelst noch # Minuten für {whom}.}}',
  end: 'Beenden',
  ending: 'Wird beendet…',
  note: '<b>{by}</b> handelt bis {until} für dich. Grund: {reason}',
  noteLink: 'Ansehen oder beenden',
}
