import type { Texts } from '#/i18n/texts.ts'

/** Text of the frame around every page, and of errors that can occur on any page. */
export const frame = {
  product: ['Berth', 'Berth'],
  tagline: ['Your own containers, in your browser', 'Deine eigenen Container, im Browser'],
  documentTitle: ['{page} · Berth', '{page} · Berth'],
  skip: ['Skip to the content', 'Zum Inhalt springen'],
  close: ['Close', 'Schließen'],
  cancel: ['Cancel', 'Abbrechen'],
  loading: ['Loading…', 'Wird geladen…'],
  more: ['Show more', 'Mehr anzeigen'],
  copy: {
    button: ['Copy', 'Kopieren'],
    copied: ['Copied.', 'Kopiert.'],
    selected: ['Press Ctrl+C to copy.', 'Zum Kopieren Strg+C drücken.'],
  },
  nav: {
    label: ['Pages', 'Seiten'],
    account: ['Account', 'Konto'],
    containers: ['Your containers', 'Deine Container'],
    sessions: ['Where you are signed in', 'Wo du angemeldet bist'],
    tokens: ['API tokens', 'API-Token'],
    sshKeys: ['SSH keys', 'SSH-Schlüssel'],
    data: ['Your data', 'Deine Daten'],
    admin: ['Administration', 'Verwaltung'],
    signOut: ['Sign out', 'Abmelden'],
    signingOut: ['Signing out…', 'Du wirst abgemeldet…'],
    stillSignedIn: ['You are still signed in.', 'Du bist noch angemeldet.'],
  },
  language: { label: ['Language', 'Sprache'], en: ['English', 'English'], de: ['Deutsch', 'Deutsch'] },
  help: ['Help:', 'Hilfe:'],
  imprint: ['Imprint', 'Impressum'],
  privacy: ['Privacy', 'Datenschutz'],
  notices: ['Notices', 'Hinweise'],
  problem: {
    late: [
      'Berth did not answer in time. It may still be working on it: wait a moment, then try again.',
      'Berth hat nicht rechtzeitig geantwortet. Vielleicht arbeitet es noch daran: Warte einen Moment und versuche es dann noch einmal.',
    ],
    unreachable: [
      'Berth cannot be reached. Check your connection, then try again.',
      'Berth ist nicht erreichbar. Prüfe deine Verbindung und versuche es dann noch einmal.',
    ],
    bug: [
      'A program error occurred on this page. Reload it and try again.',
      'Auf dieser Seite ist ein Programmfehler aufgetreten. Lade sie neu und versuche es noch einmal.',
    ],
    tryAgain: ['Try again', 'Noch einmal versuchen'],
  },
  signInAgain: {
    text: [
      'You can view this page, but to change anything you have to sign in again: without https a sign-in ends when you leave its page.',
      'Du kannst diese Seite ansehen, aber um etwas zu ändern, musst du dich neu anmelden: Ohne https endet eine Anmeldung, sobald du ihre Seite verlässt.',
    ],
    link: ['Sign in again', 'Neu anmelden'],
  },
  connectivity: {
    offline: [
      'This device is offline. What you see may be out of date. The page updates by itself when the connection is back.',
      'Dieses Gerät ist offline. Was du siehst, kann veraltet sein. Die Seite aktualisiert sich von selbst, sobald die Verbindung wieder da ist.',
    ],
    unreachable: [
      'Berth cannot be reached at the moment. Your containers are not affected. The page updates by itself when Berth answers again.',
      'Berth ist gerade nicht erreichbar. Deine Container betrifft das nicht. Die Seite aktualisiert sich von selbst, sobald Berth wieder antwortet.',
    ],
    back: ['Berth can be reached again.', 'Berth ist wieder erreichbar.'],
  },
  notFound: {
    title: ['Page not found', 'Seite nicht gefunden'],
    what: [
      'No page has this address. It may be mistyped, or the link is out of date.',
      'Unter dieser Adresse gibt es keine Seite. Vielleicht ist sie vertippt, oder der Link ist veraltet.',
    ],
    todo: ['Check the address, or go to the start page.', 'Prüfe die Adresse oder geh zur Startseite.'],
    button: ['Go to the start page', 'Zur Startseite'],
  },
  forbidden: {
    title: ['Access denied', 'Zugriff verweigert'],
    what: [
      'This page is for administrators, and your account has no administrator rights.',
      'Diese Seite ist für Administratoren, und dein Konto hat keine Administratorrechte.',
    ],
    todo: ['If you need them, ask an administrator.', 'Wenn du sie brauchst, wende dich an einen Administrator.'],
    button: ['Go to your containers', 'Zu deinen Containern'],
  },
  broken: {
    title: ['Error on this page', 'Fehler auf dieser Seite'],
    what: [
      'A program error stopped this page. Your containers and files are not affected.',
      'Ein Programmfehler hat diese Seite unterbrochen. Deine Container und Dateien betrifft das nicht.',
    ],
    todo: [
      'Reload it. If it fails again, tell your administrator what you did before.',
      'Lade sie neu. Wenn es wieder passiert, sag deinem Administrator, was du vorher getan hast.',
    ],
    button: ['Reload the page', 'Seite neu laden'],
  },
  outdated: {
    title: ['A part of this page could not be loaded', 'Ein Teil dieser Seite konnte nicht geladen werden'],
    what: [
      'Berth was updated, or cannot be reached at the moment. Your containers and files are not affected.',
      'Berth wurde aktualisiert oder ist gerade nicht erreichbar. Deine Container und Dateien betrifft das nicht.',
    ],
    todo: ['Reload the page to get the current version.', 'Lade die Seite neu, um die aktuelle Version zu bekommen.'],
    button: ['Reload the page', 'Seite neu laden'],
  },
} as const satisfies Texts

/** Text of impersonation (takeover): for the administrator who acts, and for the user. */
export const takeover = {
  label: ['You act for another user', 'Du handelst für eine andere Person'],
  /** A user whose address is not loaded yet. */
  anotherUser: ['another user', 'eine andere Person'],
  acting: [
    'You act for <b>{whom}</b>, and they are informed.',
    'Du handelst für <b>{whom}</b>, und die Person wird darüber informiert.',
  ],
  left: ['It ends in {time}.', 'Das endet in {time}.'],
  minutesLeft: [
    '{minutes, plural, one {You act for {whom} for one more minute.} other {You act for {whom} for # more minutes.}}',
    '{minutes, plural, one {Du handelst noch eine Minute für {whom}.} other {Du handelst noch # Minuten für {whom}.}}',
  ],
  end: ['End', 'Beenden'],
  ending: ['Ending…', 'Wird beendet…'],
  note: [
    '<b>{by}</b> acts for you until {until}. Their reason: {reason}',
    '<b>{by}</b> handelt bis {until} für dich. Grund: {reason}',
  ],
  noteLink: ['View or end it', 'Ansehen oder beenden'],
} as const satisfies Texts
