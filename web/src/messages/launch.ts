import type { Texts } from '#/i18n/texts.ts'

/** Text of the page of a launch. */
export const launch = {
  title: ['Starting your container', 'Dein Container wird gestartet'],
  failedTitle: ['Your container was not started', 'Dein Container wurde nicht gestartet'],
  readyTitle: ['Your container is running', 'Dein Container läuft'],
  starting: [
    'It is starting. This page opens it as soon as it is ready.',
    'Er wird gestartet und hier geöffnet, sobald er bereit ist.',
  ],
  staying: ['It is starting.', 'Er wird gestartet.'],
  ready: ['It is running.', 'Er läuft.'],
  going: ['It is running. Opening it…', 'Er läuft und wird geöffnet…'],
  dashboard: ['Go to your containers', 'Zu deinen Containern'],
  firstLaunch: ['The first time this can take a minute.', 'Beim ersten Mal kann das eine Minute dauern.'],
  stay: ['Stay here', 'Hier bleiben'],
  open: ['Open', 'Öffnen'],
  noType: [
    'This link does not name a container. Choose one here.',
    'Dieser Link nennt keinen Container. Wähle hier einen aus.',
  ],
  signInAgain: [
    'Berth cannot confirm that you opened this page yourself. Sign in to start the container.',
    'Berth kann nicht feststellen, ob du diese Seite selbst geöffnet hast. Melde dich an, um den Container zu starten.',
  ],
  signIn: ['Sign in to start your container', 'Melde dich an, um deinen Container zu starten'],
  files: {
    title: ['Files for your container', 'Dateien für deinen Container'],
    intro: [
      'The link that you followed opens your container {name} and puts files of this Git repository into it:',
      'Der Link, dem du gefolgt bist, öffnet deinen Container {name} und legt Dateien dieses Git-Repositorys hinein:',
    ],
    repository: ['Repository', 'Repository'],
    ref: ['Branch, tag or commit', 'Zweig, Tag oder Commit'],
    to: ['Folder', 'Ordner'],
    home: ['your home folder', 'dein Home-Ordner'],
    kept: [
      'Files that you changed are kept: the newer version takes the name, and yours gets a number behind it.',
      'Was du geändert hast, bleibt: Die neuere Fassung bekommt den Namen, und deine eine Nummer dahinter.',
    ],
    get: ['Get the files and open', 'Dateien holen und öffnen'],
    without: ['Open without the files', 'Ohne die Dateien öffnen'],
  },
} as const satisfies Texts
