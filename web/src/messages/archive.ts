import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the page that a mailed link to archives opens. */
export const archive = {
  title: 'Your archived files',
  lead: '{group} has ended. Here are the files that you had in its containers.',
  until: 'They are deleted <at></at>.',
  size: '{size}, as a compressed archive (.tar.gz)',
  download: 'Download',
  downloadThis: 'Download the files of {type}',
  begun: 'The download has begun.',
  none: 'You had no files in its containers.',
  incomplete: 'The link is incomplete. Open the whole link of the mail.',
  loading: 'Loading…',
} as const

export const germanArchive: InOtherWords<typeof archive> = {
  title: 'Deine archivierten Dateien',
  lead: '{group} ist zu Ende. Hier sind die Dateien, die du in den Containern hattest.',
  until: 'Sie werden <at></at> gelöscht.',
  size: '{size}, als komprimiertes Archiv (.tar.gz)',
  download: 'Herunterladen',
  downloadThis: 'Dateien von {type} herunterladen',
  begun: 'Der Download hat begonnen.',
  none: 'Du hattest keine Dateien in den Containern.',
  incomplete: 'Der Link ist unvollständig. Öffne den ganzen Link aus der E-Mail.',
  loading: 'Wird geladen…',
}
