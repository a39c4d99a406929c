import type { snapshots as english } from '#/messages/en/snapshots.ts'
import type { InOtherWords } from '#/messages/words.ts'

export const snapshots: InOtherWords<typeof english> = {
  title: 'Sicherungspunkte deiner Dateien',
  lead: 'Ein Sicherungspunkt hält deinen Home-Ordner fest, wie er ist. Die drei neuesten bleiben, und einer, der etwa eine Woche alt ist.',
  off: 'Sicherungspunkte sind hier ausgeschaltet.',
  nothingLaunched: 'Starte zuerst einen Container: Dann hat er einen Home-Ordner.',
  none: 'Noch kein Sicherungspunkt. Bevor der Container ein anderes Image bekommt, entsteht einer von selbst.',
  take: 'Sicherungspunkt erstellen',
  takeThis: 'Sicherungspunkt von {name} erstellen',
  busy: 'In Arbeit… Ein großer Home-Ordner dauert einige Minuten.',
  manual: 'Von dir erstellt, {size}',
  image: 'Vor einem anderen Image erstellt, {size}',
  reset: 'Vor einem Zurücksetzen erstellt, {size}',
  restore: 'Wiederherstellen',
  restoreThis: 'Sicherungspunkt vom {at} wiederherstellen',
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
      'Zuerst entsteht ein Sicherungspunkt. Dann wird der Home-Ordner entfernt: Der nächste Start beginnt mit den Startdateien. Der Container muss angehalten sein.',
    confirm: 'Zurücksetzen',
  },
  ask: {
    title: 'Diesen Sicherungspunkt wiederherstellen?',
    effect:
      'Die Dateien kommen in einen neuen Ordner deines Home-Ordners. Was dort ist, ändert sich nicht. Der Container muss angehalten sein.',
    path: 'Nur dieser Ordner oder diese Datei',
    hint: 'Etwa notizen/2026; leer für alles',
    cancel: 'Abbrechen',
  },
}
