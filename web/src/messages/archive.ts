import type { Texts } from '#/i18n/texts.ts'

/** Text of the page that a mailed link to archives opens. */
export const archive = {
  title: ['Your archived files', 'Deine archivierten Dateien'],
  lead: [
    '{group} has ended. Here are the files that you had in its containers.',
    '{group} ist zu Ende. Hier sind die Dateien, die du in den Containern hattest.',
  ],
  until: ['They are deleted <at></at>.', 'Sie werden <at></at> gelöscht.'],
  size: ['{size}, as a compressed archive (.tar.gz)', '{size}, als komprimiertes Archiv (.tar.gz)'],
  download: ['Download', 'Herunterladen'],
  downloadThis: ['Download the files of {type}', 'Dateien von {type} herunterladen'],
  begun: ['The download has begun.', 'Der Download hat begonnen.'],
  none: ['You had no files in its containers.', 'Du hattest keine Dateien in den Containern.'],
  incomplete: [
    'The link is incomplete. Open the whole link of the mail.',
    'Der Link ist unvollständig. Öffne den ganzen Link aus der E-Mail.',
  ],
} as const satisfies Texts
