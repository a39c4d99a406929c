import type { Translated } from '../catalogue.ts'

export const snapshots: Translated<'snapshots'> = {
  off: 'Sicherungspunkte sind hier ausgeschaltet.',
  noHome: 'Container dieser Art haben keinen Home-Ordner.',
  stopFirst: 'Der Container läuft. Halte ihn zuerst an, damit sich seine Dateien währenddessen nicht ändern.',
  tooLarge:
    'Der Home-Ordner ist größer, als ein Sicherungspunkt sein darf. Lösche, was du nicht brauchst, oder wende dich an deinen Administrator.',
  failed:
    'Der Home-Ordner ließ sich nicht lesen oder schreiben. An deinen Dateien hat sich nichts geändert; versuche es noch einmal oder wende dich an deinen Administrator.',
  noHomeYet: 'Es gibt noch keine Dateien: Starte den Container einmal.',
  reset: 'Mit dem nächsten Start ist der Home-Ordner wie neu. Was darin war, ist in einem Sicherungspunkt.',
  made: 'Der Sicherungspunkt ist erstellt.',
  removed: 'Der Sicherungspunkt ist entfernt.',
  restored: 'Die Dateien sind im Ordner {folder} des Home-Ordners. Nichts wurde überschrieben.',
}
