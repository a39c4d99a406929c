import type { archive as english } from '#/messages/en/archive.ts'
import type { InOtherWords } from '#/messages/words.ts'

export const archive: InOtherWords<typeof english> = {
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
