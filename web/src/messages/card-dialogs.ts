import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Words of the dialogs of the dashboard, which are loaded when one is opened. */

/** The ports of a container. */
export const ports = {
  title: 'Ports of {name}',
  lead: 'What listens in this container now. You alone can open it, until you share it.',
  loading: 'Loading…',
  none: 'Nothing listens.',
  main: 'Opens with the container',
  loopback: 'Listens inside the container alone; opens here all the same',
  further: 'Listens on all addresses of the container',
  open: 'Open',
  openThis: 'Open port {port}',
  copy: 'Copy',
  copyThis: 'Copy the address of port {port}',
  copied: 'The address of port {port} was copied.',
  notCopied: 'The browser did not allow copying. Select the address of port {port} and copy it yourself.',
  close: 'Close',
} as const

export const germanPorts: InOtherWords<typeof ports> = {
  title: 'Ports von {name}',
  lead: 'Was in diesem Container jetzt lauscht. Nur du kannst es öffnen, bis du es teilst.',
  loading: 'Wird geladen…',
  none: 'Kein Programm lauscht.',
  main: 'Öffnet sich mit dem Container',
  loopback: 'Lauscht nur im Container selbst; öffnet sich hier trotzdem',
  further: 'Lauscht auf allen Adressen des Containers',
  open: 'Öffnen',
  openThis: 'Port {port} öffnen',
  copy: 'Kopieren',
  copyThis: 'Adresse von Port {port} kopieren',
  copied: 'Die Adresse von Port {port} wurde kopiert.',
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt. Markiere die Adresse von Port {port} und kopiere sie selbst.',
  close: 'Schließen',
}

/** How a container is reached by SSH. */
export const connect = {
  title: 'Connect to {name}',
  command: 'Command',
  config: 'Text for ~/.ssh/config',
  knownHosts: 'Line for ~/.ssh/known_hosts',
  vscode: 'Open in VS Code',
  jetbrains: 'Open in JetBrains Gateway',
  keys: 'Your SSH keys',
  copy: 'Copy',
  copied: 'Copied',
  selected: 'Your browser does not copy it: it is selected, copy it yourself.',
  close: 'Close',
} as const

export const germanConnect: InOtherWords<typeof connect> = {
  title: 'Mit {name} verbinden',
  command: 'Befehl',
  config: 'Text für ~/.ssh/config',
  knownHosts: 'Zeile für ~/.ssh/known_hosts',
  vscode: 'In VS Code öffnen',
  jetbrains: 'In JetBrains Gateway öffnen',
  keys: 'Deine SSH-Schlüssel',
  copy: 'Kopieren',
  copied: 'Kopiert',
  selected: 'Dein Browser kopiert es nicht: Es ist markiert, kopiere es selbst.',
  close: 'Schließen',
}

/** A link for a class. */
export const classLink = {
  title: 'A link for your class',
  lead: 'Each person who opens this link signs in, and comes to their own container of this type; it is launched if it does not run.',
  type: 'Container',
  path: 'File or page to open, as in the address of your own container (may be empty)',
  git: 'Git repository whose files are put into each home (may be empty)',
  ref: 'Branch, tag or commit',
  to: 'Folder of the home',
  qr: 'QR code of the link',
  copy: 'Copy the link',
  copied: 'The link was copied.',
  notCopied: 'This browser does not copy by itself: the link is selected, so copy it with Ctrl+C.',
} as const

export const germanClassLink: InOtherWords<typeof classLink> = {
  title: 'Ein Link für deine Klasse',
  lead: 'Wer diesen Link öffnet, meldet sich an und kommt zum eigenen Container dieser Art; läuft er nicht, wird er gestartet.',
  type: 'Container',
  path: 'Datei oder Seite, wie in der Adresse deines eigenen Containers (kann leer sein)',
  git: 'Git-Repository, dessen Dateien in jedes Home gelegt werden (kann leer sein)',
  ref: 'Zweig, Tag oder Commit',
  to: 'Ordner im Home',
  qr: 'QR-Code des Links',
  copy: 'Link kopieren',
  copied: 'Der Link ist kopiert.',
  notCopied: 'Dieser Browser kopiert nicht von selbst: Der Link ist markiert, kopiere ihn mit Strg+C.',
}

/** The output of a container's program. */
export const logs = {
  title: 'Logs of {name}',
  empty: 'No output yet.',
  opening: 'Loading…',
  open: 'New lines appear as they are written.',
  scrolledUp: 'You scrolled up: the view does not follow new lines.',
  lost: 'The connection was lost. Reconnecting…',
  ended: 'The program has ended. These are its last lines.',
  again: 'Reload',
  copy: 'Copy all',
  copied: '{count, plural, one {# line was copied.} other {# lines were copied.}}',
  notCopied: 'The browser did not allow copying. Select the lines and copy them yourself.',
  wrap: 'Wrap long lines',
  close: 'Close',
} as const

export const germanLogs: InOtherWords<typeof logs> = {
  title: 'Log von {name}',
  empty: 'Noch keine Ausgabe.',
  opening: 'Wird geladen…',
  open: 'Neue Zeilen erscheinen, sobald sie geschrieben werden.',
  scrolledUp: 'Du hast nach oben gescrollt: Die Ansicht folgt neuen Zeilen nicht.',
  lost: 'Die Verbindung ist abgebrochen. Sie wird wiederhergestellt…',
  ended: 'Das Programm ist beendet. Das sind seine letzten Zeilen.',
  again: 'Neu laden',
  copy: 'Alles kopieren',
  copied: '{count, plural, one {# Zeile wurde kopiert.} other {# Zeilen wurden kopiert.}}',
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt. Markiere die Zeilen und kopiere sie selbst.',
  wrap: 'Lange Zeilen umbrechen',
  close: 'Schließen',
}

/** The keys of the dashboard. */
export const shortcuts = {
  title: 'Keyboard shortcuts',
  choose: 'Choose a container',
  onChosen: 'These apply to the chosen container, or to the only one:',
  help: 'Show this list',
  isOn: 'Use keyboard shortcuts',
  close: 'Close',
} as const

export const germanShortcuts: InOtherWords<typeof shortcuts> = {
  title: 'Tastenkürzel',
  choose: 'Einen Container wählen',
  onChosen: 'Diese gelten für den gewählten Container oder für den einzigen:',
  help: 'Diese Liste zeigen',
  isOn: 'Tastenkürzel verwenden',
  close: 'Schließen',
}

/** What is chosen at a launch. */
export const parameters = {
  title: 'Launch {name}',
  kept: 'Later launches use the same values. Other values than before create a new container; the files in your home folder are kept.',
} as const

export const germanParameters: InOtherWords<typeof parameters> = {
  title: '{name} starten',
  kept: 'Spätere Starts benutzen dieselben Werte. Sind es andere als bisher, wird ein neuer Container angelegt; die Dateien in deinem Home-Ordner bleiben erhalten.',
}
