import type { Texts } from '#/i18n/texts.ts'

/** Text of the dialog that invites users. */

const invite = {
  open: ['Invite people', 'Einladen'],
  title: ['Invite people', 'Einladen'],
  text: [
    'Each gets an account and a link to sign in with for the first time.',
    'Alle bekommen ein Konto und einen Registrierungslink.',
  ],
  addresses: ['E-mail addresses', 'E-Mail-Adressen'],
  addressesHint: [
    'One per line, or the rows of a spreadsheet: the column with the addresses is used, the rest is ignored.',
    'Eine je Zeile, oder die Zeilen einer Tabelle: Die Spalte mit den Adressen wird verwendet, der Rest nicht.',
  ],
  file: ['Or read them from a file (CSV or text):', 'Oder aus einer Datei (CSV oder Text):'],
  fileUnreadable: [
    'This file is not text, or larger than 8 MB. Export the list as CSV and choose that file.',
    'Diese Datei ist kein Text oder größer als 8 MB. Exportiere die Liste als CSV und wähle diese Datei.',
  ],
  column: [
    '{count, number} columns contain addresses. Which one should be used?',
    '{count, number} Spalten haben Adressen. Welche zählt?',
  ],
  chooseColumn: ['Choose a column', 'Spalte wählen'],
  allColumns: ['All columns', 'Alle Spalten'],
  rejected: [
    '{count, plural, one {# line has no address and is left out:} other {# lines have no address and are left out:}}',
    '{count, plural, one {# Zeile hat keine Adresse und wird ausgelassen:} other {# Zeilen haben keine Adresse und werden ausgelassen:}}',
  ],
  language: ['Language of the mail:', 'Sprache der E-Mail:'],
  found: [
    '{count, plural, =0 {No address yet} one {# address} other {# addresses}}',
    '{count, plural, =0 {Noch keine Adresse} one {# Adresse} other {# Adressen}}',
  ],
  how: ['How they get their link', 'Wie der Link ankommt'],
  send: ['Mail it to them', 'Per E-Mail'],
  show: ['Show the links, to be passed on by hand', 'Links anzeigen, um sie selbst weiterzugeben'],
  confirm: [
    '{count, plural, =0 {Invite} one {Invite # person} other {Invite # people}}',
    '{count, plural, =0 {Einladen} one {# Person einladen} other {# Personen einladen}}',
  ],
  busy: ['Inviting…', 'Wird eingeladen…'],
  done: [
    '{count, plural, =0 {No one was invited.} one {# person is invited.} other {# people are invited.}}',
    '{count, plural, =0 {Keine Person wurde eingeladen.} one {# Person ist eingeladen.} other {# Personen sind eingeladen.}}',
  ],
  refused: [
    '{count, plural, one {# address was not invited: it is listed first.} other {# addresses were not invited: they are listed first.}}',
    '{count, plural, one {# Adresse wurde nicht eingeladen: Sie steht zuerst.} other {# Adressen wurden nicht eingeladen: Sie stehen zuerst.}}',
  ],
  secret: [
    'Anyone who has a link can use it. The links are shown only here, once.',
    'Wer einen Link hat, kann ihn benutzen. Die Links werden nur hier und nur einmal angezeigt.',
  ],
  results: ['Result for each address', 'Ergebnis je Adresse'],
  address: ['Address', 'Adresse'],
  result: ['Result', 'Ergebnis'],
  copyAll: ['Copy all links', 'Alle Links kopieren'],
  copyOf: ['Copy the link of {email}', 'Link von {email} kopieren'],
  more: ['Invite more', 'Weitere einladen'],
  statuses: {
    invited: ['Invited', 'Eingeladen'],
    'already-registered': ['Has an account already', 'Hat schon ein Konto'],
    invalid: ['Not an e-mail address', 'Keine E-Mail-Adresse'],
    failed: ['The mail was not accepted. Try again.', 'Die E-Mail wurde nicht angenommen. Versuche es noch einmal.'],
    waiting: ['Not invited', 'Nicht eingeladen'],
  },
} as const satisfies Texts

/** Text of the page of users and of the actions on one. */
export const users = {
  search: ['E-mail address or slug', 'E-Mail-Adresse oder Kürzel'],
  caption: ['Users', 'Personen'],
  found: [
    '{count, plural, =0 {No user matches.} one {# user matches.} other {# users match.}}',
    '{count, plural, =0 {Keine Person passt.} one {# Person passt.} other {# Personen passen.}}',
  ],
  noMatch: ['No user matches.', 'Keine Person passt dazu.'],
  noMatchHint: ['Check the spelling, or clear the filters.', 'Prüfe die Schreibweise oder hebe die Filter auf.'],
  columns: {
    email: ['E-mail', 'E-Mail'],
    state: ['State', 'Zustand'],
    containers: ['Containers', 'Container'],
    last_used: ['Last used', 'Zuletzt aktiv'],
    created_at: ['Created', 'Angelegt'],
  },
  states: {
    registered: ['Not verified', 'Nicht bestätigt'],
    verified: ['Verified', 'Bestätigt'],
    active: ['Active', 'Aktiv'],
  },
  stateMeanings: {
    registered: ['Has an account and has not used a link yet.', 'Hat ein Konto und noch keinen Link benutzt.'],
    verified: ['Has confirmed the address with a link.', 'Hat die Adresse mit einem Link bestätigt.'],
    active: [
      'Has used a link, and has restarted a container.',
      'Hat einen Link benutzt und einen Container neu gestartet.',
    ],
    blocked: [
      'Cannot sign in or launch anything until an administrator unblocks them.',
      'Kann sich weder anmelden noch etwas starten, bis eine Administratorin oder ein Administrator entsperrt.',
    ],
  },
  filters: {
    state: ['State', 'Zustand'],
    anyState: ['Any state', 'Jeder Zustand'],
    role: ['Role', 'Rolle'],
    anyRole: ['Any role', 'Jede Rolle'],
    administrators: ['Administrators', 'Administratoren'],
    others: ['All other users', 'Alle anderen'],
  },
  badges: { administrator: ['Administrator', 'Administrator'], blocked: ['Blocked', 'Gesperrt'], you: ['You', 'Du'] },
  containers: ['{count, plural, =0 {None} other {#}}', '{count, plural, =0 {Keine} other {#}}'],
  containersBlocked: ['{blocked, number} blocked', '{blocked, number} gesperrt'],
  bulk: {
    selected: [
      '{count, plural, one {# user selected} other {# users selected}}',
      '{count, plural, one {# Person ausgewählt} other {# Personen ausgewählt}}',
    ],
    blockTitle: [
      '{count, plural, one {Block # user?} other {Block # users?}}',
      '{count, plural, one {# Person sperren?} other {# Personen sperren?}}',
    ],
    blockText: [
      'They cannot sign in or launch anything any more, and all of their containers stop. Their files are kept.',
      'Sie können sich nicht mehr anmelden und nichts mehr starten, und alle ihre Container werden gestoppt. Ihre Dateien bleiben.',
    ],
    blockLeftOut: [
      'Your own account is skipped, and so is the last administrator who could undo it. Accounts that are blocked already stay blocked.',
      'Dein eigenes Konto wird ausgelassen, ebenso der letzte Administrator, der es rückgängig machen könnte. Schon gesperrte Konten bleiben gesperrt.',
    ],
    unblockTitle: [
      '{count, plural, one {Unblock # user?} other {Unblock # users?}}',
      '{count, plural, one {# Person entsperren?} other {# Personen entsperren?}}',
    ],
    unblockText: [
      'They can sign in and launch again. Containers that were blocked one by one stay blocked.',
      'Sie können sich wieder anmelden und starten. Container, die einzeln gesperrt wurden, bleiben gesperrt.',
    ],
    blocking: ['Blocking users', 'Personen werden gesperrt'],
    unblocking: ['Unblocking users', 'Personen werden entsperrt'],
    blocked: [
      '{count, plural, =0 {No user was blocked.} one {# user is blocked.} other {# users are blocked.}}',
      '{count, plural, =0 {Keine Person wurde gesperrt.} one {# Person ist gesperrt.} other {# Personen sind gesperrt.}}',
    ],
    unblocked: [
      '{count, plural, =0 {No user was unblocked.} one {# user is unblocked.} other {# users are unblocked.}}',
      '{count, plural, =0 {Keine Person wurde entsperrt.} one {# Person ist entsperrt.} other {# Personen sind entsperrt.}}',
    ],
    blockedBefore: [
      '{count, plural, one {# was blocked already.} other {# were blocked already.}}',
      '{count, plural, one {# war schon gesperrt.} other {# waren schon gesperrt.}}',
    ],
    staysStopped: [
      'Their containers stay stopped until they launch them.',
      'Ihre Container bleiben gestoppt, bis sie sie starten.',
    ],
    unblockedBefore: [
      '{count, plural, one {# was not blocked.} other {# were not blocked.}}',
      '{count, plural, one {# war nicht gesperrt.} other {# waren nicht gesperrt.}}',
    ],
  },
  actions: {
    details: ['Details', 'Einzelheiten'],
    takeOver: ['Act for them', 'Konto übernehmen'],
    resend: ['Send another signup link', 'Registrierungslink noch einmal schicken'],
    promote: ['Make administrator', 'Administratorrechte geben'],
    demote: ['Remove as administrator', 'Administratorrechte entziehen'],
    block: ['Block', 'Sperren'],
    unblock: ['Unblock', 'Entsperren'],
    delete: ['Delete', 'Löschen'],
  },
  obstacles: {
    self: ['This is your own account.', 'Das ist dein eigenes Konto.'],
    blocked: ['Unblock them first.', 'Entsperre die Person zuerst.'],
  },
  notice: {
    resent: ['A signup link was sent to {email}.', 'Ein Registrierungslink wurde an {email} geschickt.'],
    promoted: ['{email} is an administrator.', '{email} hat jetzt Administratorrechte.'],
    demoted: ['{email} is not an administrator any more.', '{email} hat keine Administratorrechte mehr.'],
    blocked: ['{email} is blocked.', '{email} ist gesperrt.'],
    unblocked: ['{email} is unblocked.', '{email} ist entsperrt.'],
    staysStopped: [
      'Their containers stay stopped until they launch them.',
      'Die Container dieser Person bleiben gestoppt, bis sie sie startet.',
    ],
    deleted: ['{email} is deleted.', '{email} ist gelöscht.'],
    extraDisk: [
      'The files of {email} have another limit from now on.',
      'Für die Dateien von {email} gilt ab jetzt eine andere Grenze.',
    ],
  },
  details: {
    slug: ['Slug', 'Kürzel'],
    id: ['Id', 'Nummer'],
    state: ['State', 'Zustand'],
    created: ['Created', 'Angelegt'],
    lastUsed: ['Last used', 'Zuletzt aktiv'],
    containers: ['Containers', 'Container'],
    none: ['No containers yet.', 'Noch keine Container.'],
    all: ['Show in the list of containers', 'In der Liste der Container zeigen'],
    usage: ['Usage over time', 'Nutzung im Verlauf'],
    disk: ['Files', 'Dateien'],
    extraDisk: ['Extra disk', 'Zusatzspeicher'],
    noExtraDisk: ['none', 'keiner'],
    change: ['Change', 'Ändern'],
    changeExtraDisk: ['Change the extra disk', 'Zusatzspeicher ändern'],
    loading: ['Loading…', 'Wird geladen…'],
    groups: ['Groups', 'Gruppen'],
    manager: ['Manager', 'Verwaltet die Gruppe'],
    sessions: ['Signed in', 'Angemeldet'],
    noSessions: ['Not signed in anywhere.', 'Nirgends angemeldet.'],
    unknownBrowser: ['Unknown program', 'Unbekanntes Programm'],
    takenOver: ['{email} acts for them', '{email} handelt an ihrer Stelle'],
    moreSessions: [
      '{count, plural, one {And one more session.} other {And # more sessions.}}',
      '{count, plural, one {Und eine weitere Sitzung.} other {Und # weitere Sitzungen.}}',
    ],
  },
  block: {
    title: ['Block {email}?', '{email} sperren?'],
    looking: ['Checking the effects…', 'Die Folgen werden geprüft…'],
    sessions: [
      'They cannot sign in or start anything any more.{count, plural, =0 {} one { The takeover in which they act for another user ends.} other { The # takeovers in which they act for others end.}}',
      'Anmelden und Starten geht dann nicht mehr.{count, plural, =0 {} one { Die Übernahme, in der die Person für eine andere handelt, endet.} other { Die # Übernahmen, in denen die Person für andere handelt, enden.}}',
    ],
    running: [
      '{count, plural, one {# container is stopped:} other {# containers are stopped:}}',
      '{count, plural, one {# Container wird gestoppt:} other {# Container werden gestoppt:}}',
    ],
    idle: [
      '{count, plural, one {# container that does not run is blocked, too:} other {# containers that do not run are blocked, too:}}',
      '{count, plural, one {# Container, der nicht läuft, wird ebenfalls gesperrt:} other {# Container, die nicht laufen, werden ebenfalls gesperrt:}}',
    ],
    already: [
      '{count, plural, one {# container is blocked already, and stays so when you unblock them:} other {# containers are blocked already, and stay so when you unblock them:}}',
      '{count, plural, one {# Container ist schon gesperrt und bleibt es, wenn du die Person entsperrst:} other {# Container sind schon gesperrt und bleiben es, wenn du die Person entsperrst:}}',
    ],
    none: ['They have no containers.', 'Die Person hat keine Container.'],
    files: ['Their files are kept.', 'Ihre Dateien bleiben.'],
    confirm: ['Block', 'Sperren'],
    busy: ['Blocking…', 'Wird gesperrt…'],
  },
  unblock: {
    title: ['Unblock {email}?', '{email} entsperren?'],
    text: ['They can sign in and launch again.', 'Die Person kann sich wieder anmelden und starten.'],
    back: [
      '{count, plural, =0 {None of their containers is blocked.} one {Their blocked container can be launched again, unless it was blocked by itself:} other {Their # blocked containers can be launched again, except those that were blocked one by one:}}',
      '{count, plural, =0 {Keiner ihrer Container ist gesperrt.} one {Ihr gesperrter Container lässt sich wieder starten, wenn er nicht einzeln gesperrt wurde:} other {Ihre # gesperrten Container lassen sich wieder starten, außer denen, die einzeln gesperrt wurden:}}',
    ],
    confirm: ['Unblock', 'Entsperren'],
    busy: ['Unblocking…', 'Wird entsperrt…'],
  },
  takeOver: {
    title: ['Act for {email}', 'Das Konto von {email} übernehmen'],
    text: [
      'Berth opens as they see it, for at most 15 minutes. They are informed at once that you act for them, since when and why, and the audit log records it.',
      'Berth öffnet sich so, wie die Person es sieht, für höchstens 15 Minuten. Sie wird sofort informiert, dass du für sie handelst, seit wann und warum, und das Protokoll hält es fest.',
    ],
    limits: [
      'You can open their containers. You cannot administer until you end it.',
      'Du kannst ihre Container öffnen. Verwalten kannst du erst wieder, wenn du die Übernahme beendet hast.',
    ],
    reason: ['Reason', 'Grund'],
    reasonHint: ['They see this text.', 'Die Person sieht diesen Text.'],
    confirm: ['Act for them', 'Konto übernehmen'],
    busy: ['Opening…', 'Wird geöffnet…'],
  },
  extraDisk: {
    title: ['More disk for {email}', 'Mehr Speicher für {email}'],
    field: ['GiB beyond the limits', 'GiB über die Grenzen hinaus'],
    hint: [
      'For all of their files together. 0 removes it.',
      'Für alle Dateien der Person zusammen. 0 nimmt es zurück.',
    ],
    confirm: ['Save', 'Speichern'],
    busy: ['Saving…', 'Wird gespeichert…'],
  },
  promote: {
    title: ['Make {email} an administrator?', '{email} Administratorrechte geben?'],
    text: [
      'They can do everything you can: see, block and delete all accounts, act for others, and make more administrators. You can undo this.',
      'Die Person kann dann alles, was du kannst: alle Konten sehen, sperren, löschen und übernehmen, und anderen Administratorrechte geben. Du kannst sie wieder entziehen.',
    ],
    confirm: ['Make administrator', 'Rechte geben'],
    busy: ['Saving…', 'Wird gespeichert…'],
  },
  demote: {
    title: ['Remove {email} as administrator?', '{email} die Administratorrechte entziehen?'],
    text: [
      'They keep their account and their containers. If they are acting for another user, that ends.',
      'Die Person behält ihr Konto und ihre Container. Hat sie gerade ein Konto übernommen, endet das.',
    ],
    confirm: ['Remove as administrator', 'Rechte entziehen'],
    busy: ['Saving…', 'Wird gespeichert…'],
  },
  delete: {
    title: ['Delete {email}?', '{email} löschen?'],
    text: [
      '{count, plural, =0 {Their account is deleted at once. This cannot be undone.} one {Their account and their container are deleted at once. This cannot be undone.} other {Their account and their # containers are deleted at once. This cannot be undone.}}',
      '{count, plural, =0 {Das Konto wird sofort gelöscht. Das lässt sich nicht rückgängig machen.} one {Das Konto und sein Container werden sofort gelöscht. Das lässt sich nicht rückgängig machen.} other {Das Konto und seine # Container werden sofort gelöscht. Das lässt sich nicht rückgängig machen.}}',
    ],
    files: [
      'Their files are kept for the time that is set for this installation, then deleted.',
      'Die Dateien bleiben so lange erhalten, wie es für diese Installation eingestellt ist, und werden dann gelöscht.',
    ],
    purge: ['Delete their files now, too', 'Auch die Dateien jetzt löschen'],
    type: ['Type {email} to confirm', 'Tippe zur Bestätigung {email}'],
    mismatch: ['This is not the same address.', 'Das ist nicht dieselbe Adresse.'],
    confirm: ['Delete', 'Löschen'],
    busy: ['Deleting…', 'Wird gelöscht…'],
  },
  invite,
} as const satisfies Texts

/** Text of the page with the API tokens of all users. */
export const tokens = {
  about: [
    'API tokens of all users, newest first. The tokens themselves are known to their owners alone. Blocking or deleting a user removes theirs.',
    'API-Token aller Personen, das neueste zuerst. Die Token selbst kennen nur ihre Besitzer. Wer gesperrt oder gelöscht wird, verliert alle.',
  ],
  filter: {
    title: ['Filter', 'Auswahl'],
    user: ['Owner', 'Besitzer'],
    userHint: ['E-mail address or number', 'E-Mail-Adresse oder Nummer'],
    show: ['Show', 'Anzeigen'],
    clear: ['Show all', 'Alle anzeigen'],
  },
  list: ['API tokens', 'API-Token'],
  owner: ['of <user></user>', 'von <user></user>'],
  none: ['No API tokens yet.', 'Noch keine API-Token.'],
  noneOf: ['This user has no API tokens.', 'Diese Person hat keine API-Token.'],
  remove: {
    open: ['Remove', 'Entfernen'],
    openThis: ['Remove the API token {name} of {email}', 'API-Token {name} von {email} entfernen'],
    title: ['Remove the API token {name}?', 'API-Token {name} entfernen?'],
    effect: [
      'Programs of {email} that use it are refused from then on. It cannot be brought back.',
      'Programme von {email}, die es benutzen, werden ab dann abgewiesen. Es lässt sich nicht zurückholen.',
    ],
    confirm: ['Remove', 'Entfernen'],
    busy: ['Removing…', 'Wird entfernt…'],
  },
} as const satisfies Texts
