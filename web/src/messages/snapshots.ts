import type { Texts } from '#/i18n/texts.ts'

/** Words of the page about snapshots of homes. */
export const snapshots = {
  title: ['Snapshots of your files', 'Sicherungspunkte deiner Dateien'],
  lead: [
    'A snapshot is a copy of your home folder. The three newest are kept, and one that is about a week old. To take your files with you, make a snapshot and download it.',
    'Ein Sicherungspunkt hält deinen Home-Ordner fest, wie er ist. Die drei neuesten bleiben, und einer, der etwa eine Woche alt ist. Um deine Dateien mitzunehmen, erstelle einen Sicherungspunkt und lade ihn herunter.',
  ],
  off: ['Snapshots are switched off here.', 'Sicherungspunkte sind hier ausgeschaltet.'],
  nothingLaunched: [
    'Launch a container first: then it has a home folder.',
    'Starte zuerst einen Container: Dann hat er einen Home-Ordner.',
  ],
  none: [
    'No snapshots yet. One is made automatically before the container gets another image.',
    'Noch kein Sicherungspunkt. Bevor der Container ein anderes Image bekommt, entsteht einer von selbst.',
  ],
  running: [
    'The container is running. Stop it before you make, restore or upload anything here, so that its files do not change meanwhile.',
    'Der Container läuft. Stoppe ihn, um hier etwas zu erstellen, wiederherzustellen oder hochzuladen, damit nichts währenddessen seine Dateien ändert.',
  ],
  stop: ['Stop', 'Stoppen'],
  stopThis: ['Stop {name}', '{name} stoppen'],
  take: ['Make a snapshot', 'Sicherungspunkt erstellen'],
  takeThis: ['Make a snapshot of {name}', 'Sicherungspunkt von {name} erstellen'],
  busy: [
    'Working… A large home folder takes a few minutes.',
    'In Arbeit… Ein großer Home-Ordner dauert einige Minuten.',
  ],
  manual: ['Made by you, {size}', 'Von dir erstellt, {size}'],
  image: ['Made before a change of image, {size}', 'Vor einem anderen Image erstellt, {size}'],
  reset: ['Made before a reset, {size}', 'Vor einem Zurücksetzen erstellt, {size}'],
  restore: ['Restore', 'Wiederherstellen'],
  restoreThis: ['Restore the snapshot of {at}', 'Sicherungspunkt vom {at} wiederherstellen'],
  moreOf: ['More actions for the snapshot of {at}', 'Weitere Aktionen für den Sicherungspunkt vom {at}'],
  more: ['More actions for the home folder of {name}', 'Weitere Aktionen für den Home-Ordner von {name}'],
  download: ['Download', 'Herunterladen'],
  downloadThis: ['Download the snapshot of {at}', 'Sicherungspunkt vom {at} herunterladen'],
  downloading: [
    'The download has started. Your browser shows its progress.',
    'Der Download hat begonnen; dein Browser zeigt, wie weit er ist.',
  ],
  remove: ['Remove', 'Entfernen'],
  removeThis: ['Remove the snapshot of {at}', 'Sicherungspunkt vom {at} entfernen'],
  askRemove: {
    title: ['Remove the snapshot of {at}?', 'Sicherungspunkt vom {at} entfernen?'],
    effect: [
      'It can no longer be restored. Your home folder is not changed.',
      'Er lässt sich dann nicht mehr wiederherstellen. Dein Home-Ordner bleibt, wie er ist.',
    ],
  },
  resetHome: ['Reset to the starter files', 'Auf die Startdateien zurücksetzen'],
  resetThis: [
    'Reset the home folder of {name} to the starter files',
    'Den Home-Ordner von {name} auf die Startdateien zurücksetzen',
  ],
  askReset: {
    title: ['Reset the home folder of {name}?', 'Den Home-Ordner von {name} zurücksetzen?'],
    effect: [
      'A snapshot is made first. Then the home folder is removed: the next launch begins with the starter files. The container must be stopped.',
      'Zuerst entsteht ein Sicherungspunkt. Dann wird der Home-Ordner entfernt: Der nächste Start beginnt mit den Startdateien. Der Container muss gestoppt sein.',
    ],
    confirm: ['Reset', 'Zurücksetzen'],
  },
  upload: {
    open: ['Upload an archive', 'Archiv hochladen'],
    openThis: ['Upload an archive into the home folder of {name}', 'Archiv in den Home-Ordner von {name} hochladen'],
    title: ['Upload an archive into the home folder of {name}', 'Ein Archiv in den Home-Ordner von {name} hochladen'],
    effect: [
      'The files go into a new folder of your home folder. Nothing that is there is changed. The container must be stopped until the archive is unpacked.',
      'Die Dateien kommen in einen neuen Ordner deines Home-Ordners. Was dort ist, ändert sich nicht. Der Container muss gestoppt sein, bis das Archiv ausgepackt ist.',
    ],
    file: ['Archive', 'Archiv'],
    hint: [
      'A .tar or .tar.gz file, such as one that was downloaded here',
      'Eine .tar- oder .tar.gz-Datei, etwa eine, die hier heruntergeladen wurde',
    ],
    start: ['Upload', 'Hochladen'],
    none: ['Choose a file first.', 'Wähle zuerst eine Datei.'],
    sending: ['Sending {name}', '{name} wird gesendet'],
    sent: ['{part} of {whole} {unit}', '{part} von {whole} {unit}'],
    unpacking: [
      'Everything is sent. It is being checked and unpacked…',
      'Alles ist gesendet. Es wird geprüft und ausgepackt…',
    ],
    cancel: ['Cancel the upload', 'Hochladen abbrechen'],
    leave: {
      title: ['Leave this page?', 'Diese Seite verlassen?'],
      effect: ['It cancels the upload.', 'Das bricht das Hochladen ab.'],
      stay: ['Stay here', 'Hier bleiben'],
      go: ['Leave and cancel', 'Verlassen und abbrechen'],
    },
  },
  ask: {
    title: ['Restore this snapshot?', 'Diesen Sicherungspunkt wiederherstellen?'],
    effect: [
      'The files go into a new folder of your home folder. Nothing that is there is changed. The container must be stopped.',
      'Die Dateien kommen in einen neuen Ordner deines Home-Ordners. Was dort ist, ändert sich nicht. Der Container muss gestoppt sein.',
    ],
    path: ['Only this folder or file', 'Nur dieser Ordner oder diese Datei'],
    hint: ['Such as notes/2026; empty for everything', 'Etwa notizen/2026; leer für alles'],
  },
} as const satisfies Texts
