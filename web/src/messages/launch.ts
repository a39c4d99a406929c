import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the page of a launch. */
export const launch = {
  title: 'Starting your container',
  failedTitle: 'Your container was not started',
  readyTitle: 'Your container is running',
  starting: 'It is starting. This page opens it as soon as it is ready.',
  staying: 'It is starting.',
  ready: 'It is running.',
  going: 'It is running. Opening it…',
  dashboard: 'Go to your containers',
  firstLaunch: 'The first time this can take a minute.',
  stay: 'Stay here',
  open: 'Open',
  noType: 'This link does not name a container. Choose one here.',
  signInAgain: 'Berth cannot confirm that you opened this page yourself. Sign in to start the container.',
  signIn: 'Sign in to start your container',
  files: {
    title: 'Files for your container',
    intro: 'The link that you followed opens your container {name} and puts files of this Git repository into it:',
    repository: 'Repository',
    ref: 'Branch, tag or commit',
    to: 'Folder',
    home: 'your home folder',
    kept: 'Files that you changed are kept: the newer version takes the name, and yours gets a number behind it.',
    get: 'Get the files and open',
    without: 'Open without the files',
  },
} as const

export const germanLaunch: InOtherWords<typeof launch> = {
  title: 'Dein Container wird gestartet',
  failedTitle: 'Dein Container wurde nicht gestartet',
  readyTitle: 'Dein Container läuft',
  starting: 'Er wird gestartet und hier geöffnet, sobald er bereit ist.',
  staying: 'Er wird gestartet.',
  ready: 'Er läuft.',
  going: 'Er läuft und wird geöffnet…',
  dashboard: 'Zu deinen Containern',
  firstLaunch: 'Beim ersten Mal kann das eine Minute dauern.',
  stay: 'Hier bleiben',
  open: 'Öffnen',
  noType: 'Dieser Link nennt keinen Container. Wähle hier einen aus.',
  signInAgain:
    'Berth kann nicht feststellen, ob du diese Seite selbst geöffnet hast. Melde dich an, um den Container zu starten.',
  signIn: 'Melde dich an, um deinen Container zu starten',
  files: {
    title: 'Dateien für deinen Container',
    intro:
      'Der Link, dem du gefolgt bist, öffnet deinen Container {name} und legt Dateien dieses Git-Repositorys hinein:',
    repository: 'Repository',
    ref: 'Zweig, Tag oder Commit',
    to: 'Ordner',
    home: 'dein Home-Ordner',
    kept: 'Was du geändert hast, bleibt: Die neuere Fassung bekommt den Namen, und deine eine Nummer dahinter.',
    get: 'Dateien holen und öffnen',
    without: 'Ohne die Dateien öffnen',
  },
}
