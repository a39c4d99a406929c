import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Words of the page about snapshots of homes. */
export const snapshots = {
  title: 'Snapshots of your files',
  lead: 'A snapshot is a copy of your home folder. The three newest are kept, and one that is about a week old. To take your files with you, make a snapshot and download it.',
  off: 'Snapshots are switched off here.',
  nothingLaunched: 'Launch a container first: then it has a home folder.',
  none: 'No snapshots yet. One is made automatically before the container gets another image.',
  running:
    'The container is running. Stop it before you make, restore or upload anything here, so that its files do not change meanwhile.',
  stop: 'Stop',
  stopThis: 'Stop {name}',
  take: 'Make a snapshot',
  takeThis: 'Make a snapshot of {name}',
  busy: 'Working… A large home folder takes a few minutes.',
  manual: 'Made by you, {size}',
  image: 'Made before a change of image, {size}',
  reset: 'Made before a reset, {size}',
  restore: 'Restore',
  restoreThis: 'Restore the snapshot of {at}',
  download: 'Download',
  downloadThis: 'Download the snapshot of {at}',
  downloading: 'The download has started. Your browser shows its progress.',
  remove: 'Remove',
  removeThis: 'Remove the snapshot of {at}',
  askRemove: {
    title: 'Remove the snapshot of {at}?',
    effect: 'It can no longer be restored. Your home folder is not changed.',
  },
  resetHome: 'Reset to the starter files',
  resetThis: 'Reset the home folder of {name} to the starter files',
  askReset: {
    title: 'Reset the home folder of {name}?',
    effect:
      'A snapshot is made first. Then the home folder is removed: the next launch begins with the starter files. The container must be stopped.',
    confirm: 'Reset',
  },
  upload: {
    open: 'Upload an archive',
    openThis: 'Upload an archive into the home folder of {name}',
    title: 'Upload an archive into the home folder of {name}',
    effect:
      'The files go into a new folder of your home folder. Nothing that is there is changed. The container must be stopped until the archive is unpacked.',
    file: 'Archive',
    hint: 'A .tar or .tar.gz file, such as one that was downloaded here',
    start: 'Upload',
    none: 'Choose a file first.',
    sending: 'Sending {name}',
    sent: '{part} of {whole} {unit}',
    unpacking: 'Everything is sent. It is being checked and unpacked…',
    cancel: 'Cancel the upload',
    leave: { title: 'Leave this page?', effect: 'It cancels the upload.', stay: 'Stay here', go: 'Leave and cancel' },
  },
  ask: {
    title: 'Restore this snapshot?',
    effect:
      'The files go into a new folder of your home folder. Nothing that is there is changed. The container must be stopped.',
    path: 'Only this folder or file',
    hint: 'Such as notes/2026; empty for everything',
    cancel: 'Cancel',
  },
} as const

export const germanSnapshots: InOtherWords<typeof snapshots> = {
  title: 'Sicherungspunkte deiner Dateien',
  lead: 'Ein Sicherungspunkt hält deinen Home-Ordner fest, wie er ist. Die drei neuesten bleiben, und einer, der etwa eine Woche alt ist. Um deine Dateien mitzunehmen, erstelle einen Sicherungspunkt und lade ihn herunter.',
  off: 'Sicherungspunkte sind hier ausgeschaltet.',
  nothingLaunched: 'Starte zuerst einen Container: Dann hat er einen Home-Ordner.',
  none: 'Noch kein Sicherungspunkt. Bevor der Container ein anderes Image bekommt, entsteht einer von selbst.',
  running:
    'Der Container läuft. Stoppe ihn, um hier etwas zu erstellen, wiederherzustellen oder hochzuladen, damit nichts währenddessen seine Dateien ändert.',
  stop: 'Stoppen',
  stopThis: '{name} stoppen',
  take: 'Sicherungspunkt erstellen',
  takeThis: 'Sicherungspunkt von {name} erstellen',
  busy: 'In Arbeit… Ein großer Home-Ordner dauert einige Minuten.',
  manual: 'Von dir erstellt, {size}',
  image: 'Vor einem anderen Image erstellt, {size}',
  reset: 'Vor einem Zurücksetzen erstellt, {size}',
  restore: 'Wiederherstellen',
  restoreThis: 'Sicherungspunkt vom {at} wiederherstellen',
  download: 'Herunterladen',
  downloadThis: 'Sicherungspunkt vom {at} herunterladen',
  downloading: 'Der Download hat begonnen; dein Browser zeigt, wie weit er ist.',
  remove: 'Entfernen',
  removeThis: 'Sicherungspunkt vom {at} entfernen',
  askRemove: {
    title: 'Sicherungspunkt vom {at} entfernen?',
    effect: 'Er lässt sich dann nicht mehr wiederherstellen. Dein Home-Ordner bleibt, wie er ist.',
  },
  resetHome: 'Auf die Startdateien zurücksetzen',
  resetThis: 'Den Home-Ordner von {name} auf die Startdateien zurücksetzen',
  askReset: {
    title: 'Den Home-Ordner von {name} zurücksetzen?',
    effect:
      'Zuerst entsteht ein Sicherungspunkt. Dann wird der Home-Ordner entfernt: Der nächste Start beginnt mit den Startdateien. Der Container muss gestoppt sein.',
    confirm: 'Zurücksetzen',
  },
  upload: {
    open: 'Archiv hochladen',
    openThis: 'Archiv in den Home-Ordner von {name} hochladen',
    title: 'Ein Archiv in den Home-Ordner von {name} hochladen',
    effect:
      'Die Dateien kommen in einen neuen Ordner deines Home-Ordners. Was dort ist, ändert sich nicht. Der Container muss gestoppt sein, bis das Archiv ausgepackt ist.',
    file: 'Archiv',
    hint: 'Eine .tar- oder .tar.gz-Datei, etwa eine, die hier heruntergeladen wurde',
    start: 'Hochladen',
    none: 'Wähle zuerst eine Datei.',
    sending: '{name} wird gesendet',
    sent: '{part} von {whole} {unit}',
    unpacking: 'Alles ist gesendet. Es wird geprüft und ausgepackt…',
    cancel: 'Hochladen abbrechen',
    leave: {
      title: 'Diese Seite verlassen?',
      effect: 'Das bricht das Hochladen ab.',
      stay: 'Hier bleiben',
      go: 'Verlassen und abbrechen',
    },
  },
  ask: {
    title: 'Diesen Sicherungspunkt wiederherstellen?',
    effect:
      'Die Dateien kommen in einen neuen Ordner deines Home-Ordners. Was dort ist, ändert sich nicht. Der Container muss gestoppt sein.',
    path: 'Nur dieser Ordner oder diese Datei',
    hint: 'Etwa notizen/2026; leer für alles',
    cancel: 'Abbrechen',
  },
}
