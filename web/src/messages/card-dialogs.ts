import type { Texts } from '#/i18n/texts.ts'

/** Words of the dialogs of the dashboard, which are loaded when one is opened. */

/** The ports of a container. */
export const ports = {
  title: ['Ports of {name}', 'Ports von {name}'],
  lead: [
    'What listens in this container now. You alone can open it, until you share it.',
    'Was in diesem Container jetzt lauscht. Nur du kannst es öffnen, bis du es teilst.',
  ],
  none: ['Nothing listens.', 'Kein Programm lauscht.'],
  main: ['Opens with the container', 'Öffnet sich mit dem Container'],
  loopback: [
    'Listens inside the container alone; opens here all the same',
    'Lauscht nur im Container selbst; öffnet sich hier trotzdem',
  ],
  further: ['Listens on all addresses of the container', 'Lauscht auf allen Adressen des Containers'],
  open: ['Open', 'Öffnen'],
  openThis: ['Open port {port}', 'Port {port} öffnen'],
  copy: ['Copy', 'Kopieren'],
  copyThis: ['Copy the address of port {port}', 'Adresse von Port {port} kopieren'],
  copied: ['The address of port {port} was copied.', 'Die Adresse von Port {port} wurde kopiert.'],
  notCopied: [
    'The browser did not allow copying. Select the address of port {port} and copy it yourself.',
    'Der Browser hat das Kopieren nicht erlaubt. Markiere die Adresse von Port {port} und kopiere sie selbst.',
  ],
} as const satisfies Texts

/** How a container is reached by SSH. */
export const connect = {
  title: ['Connect to {name}', 'Mit {name} verbinden'],
  command: ['Command', 'Befehl'],
  config: ['Text for ~/.ssh/config', 'Text für ~/.ssh/config'],
  knownHosts: ['Line for ~/.ssh/known_hosts', 'Zeile für ~/.ssh/known_hosts'],
  vscode: ['Open in VS Code', 'In VS Code öffnen'],
  jetbrains: ['Open in JetBrains Gateway', 'In JetBrains Gateway öffnen'],
  keys: ['Your SSH keys', 'Deine SSH-Schlüssel'],
} as const satisfies Texts

/** A link for a class. */
export const classLink = {
  title: ['A link for your class', 'Ein Link für deine Klasse'],
  lead: [
    'Each person who opens this link signs in, and comes to their own container of this type; it is launched if it does not run.',
    'Wer diesen Link öffnet, meldet sich an und kommt zum eigenen Container dieser Art; läuft er nicht, wird er gestartet.',
  ],
  type: ['Container', 'Container'],
  path: [
    'File or page to open, as in the address of your own container (may be empty)',
    'Datei oder Seite, wie in der Adresse deines eigenen Containers (kann leer sein)',
  ],
  git: [
    'Git repository whose files are put into each home (may be empty)',
    'Git-Repository, dessen Dateien in jedes Home gelegt werden (kann leer sein)',
  ],
  ref: ['Branch, tag or commit', 'Zweig, Tag oder Commit'],
  to: ['Folder of the home', 'Ordner im Home'],
  problem: {
    path: [
      'This path leads nowhere. Write what stands behind the address of your own container of this type, without its address, “..” and backslashes.',
      'Dieser Pfad führt nirgendwohin. Schreib, was hinter der Adresse deines eigenen Containers dieser Art steht, ohne die Adresse, „..“ und umgekehrte Schrägstriche.',
    ],
    git: [
      'Write the address of a public repository, with http or https, and without a user, password, query or fragment: all who get the link can read it.',
      'Schreib die Adresse eines öffentlichen Repositorys, mit http oder https und ohne Benutzer, Passwort, Abfrage und Fragment: Wer den Link bekommt, liest sie.',
    ],
  },
  qr: ['QR code of the link', 'QR-Code des Links'],
  copy: ['Copy the link', 'Link kopieren'],
} as const satisfies Texts

/** The output of a container's program. */
export const logs = {
  title: ['Logs of {name}', 'Log von {name}'],
  empty: ['No output yet.', 'Noch keine Ausgabe.'],
  opening: ['Loading…', 'Wird geladen…'],
  open: ['New lines appear as they are written.', 'Neue Zeilen erscheinen, sobald sie geschrieben werden.'],
  scrolledUp: [
    'You scrolled up: the view does not follow new lines.',
    'Du hast nach oben gescrollt: Die Ansicht folgt neuen Zeilen nicht.',
  ],
  lost: ['The connection was lost. Reconnecting…', 'Die Verbindung ist abgebrochen. Sie wird wiederhergestellt…'],
  ended: [
    'The program has ended. These are its last lines.',
    'Das Programm ist beendet. Das sind seine letzten Zeilen.',
  ],
  again: ['Reload', 'Neu laden'],
  copy: ['Copy all', 'Alles kopieren'],
  copied: [
    '{count, plural, one {# line was copied.} other {# lines were copied.}}',
    '{count, plural, one {# Zeile wurde kopiert.} other {# Zeilen wurden kopiert.}}',
  ],
  notCopied: [
    'The browser did not allow copying. Select the lines and copy them yourself.',
    'Der Browser hat das Kopieren nicht erlaubt. Markiere die Zeilen und kopiere sie selbst.',
  ],
  wrap: ['Wrap long lines', 'Lange Zeilen umbrechen'],
} as const satisfies Texts

/** The keys of the dashboard. */
export const shortcuts = {
  title: ['Keyboard shortcuts', 'Tastenkürzel'],
  choose: ['Choose a container', 'Einen Container wählen'],
  onChosen: [
    'These apply to the chosen container, or to the only one:',
    'Diese gelten für den gewählten Container oder für den einzigen:',
  ],
  help: ['Show this list', 'Diese Liste zeigen'],
  isOn: ['Use keyboard shortcuts', 'Tastenkürzel verwenden'],
} as const satisfies Texts

/** What is chosen at a launch. */
export const parameters = {
  title: ['Launch {name}', '{name} starten'],
  kept: [
    'Later launches use the same values. Other values than before create a new container; the files in your home folder are kept.',
    'Spätere Starts benutzen dieselben Werte. Sind es andere als bisher, wird ein neuer Container angelegt; die Dateien in deinem Home-Ordner bleiben erhalten.',
  ],
} as const satisfies Texts
