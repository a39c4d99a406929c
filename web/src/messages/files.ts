import type { Texts } from '#/i18n/texts.ts'

/** Words of the dialog about the files of a home. */
export const files = {
  open: ['Files', 'Dateien'],
  openThis: ['Files of {name}', 'Dateien von {name}'],
  title: ['Files of {name}', 'Dateien von {name}'],
  lead: [
    'The largest come first. The container has to be stopped to download or delete anything.',
    'Die größten stehen oben. Zum Herunterladen und Löschen muss der Container gestoppt sein.',
  ],
  reading: ['Reading the home folder…', 'Der Home-Ordner wird gelesen…'],
  here: [
    '{path}: {size} in {files, plural, one {# file} other {# files}}',
    '{path}: {size} in {files, plural, one {# Datei} other {# Dateien}}',
  ],
  home: ['Home folder', 'Home-Ordner'],
  up: ['Up one folder', 'Einen Ordner höher'],
  earlier: ['Larger ones', 'Größere'],
  more: ['Smaller ones', 'Kleinere'],
  partly: [
    'The folder is too large to be read in time, so there is more than this.',
    'Der Ordner ist zu groß, um ihn rechtzeitig ganz zu lesen. Es gibt also noch mehr.',
  ],
  empty: ['This folder is empty.', 'Dieser Ordner ist leer.'],
  file: ['{size}', '{size}'],
  folder: [
    '{size} in {files, plural, one {# file} other {# files}}',
    '{size} in {files, plural, one {# Datei} other {# Dateien}}',
  ],
  link: ['Link', 'Verknüpfung'],
  other: ['Special file', 'Besondere Datei'],
  download: ['Download', 'Herunterladen'],
  downloadThis: ['Download {name}', '{name} herunterladen'],
  downloading: [
    'The download has started. Your browser shows its progress.',
    'Der Download hat begonnen. Dein Browser zeigt den Fortschritt.',
  ],
  remove: ['Delete', 'Löschen'],
  removeThis: ['Delete {name}', '{name} löschen'],
  ask: {
    title: ['Delete {name}?', '{name} löschen?'],
    file: [
      'The file cannot be brought back, unless a snapshot has it.',
      'Die Datei lässt sich nicht zurückholen, außer aus einem Sicherungspunkt.',
    ],
    folder: [
      'The folder is deleted with everything in it. It cannot be brought back, unless a snapshot has it.',
      'Der Ordner wird mit allem gelöscht, was darin ist. Er lässt sich nicht zurückholen, außer aus einem Sicherungspunkt.',
    ],
    confirm: ['Delete', 'Löschen'],
  },
  removing: ['Deleting…', 'Wird gelöscht…'],
} as const satisfies Texts
