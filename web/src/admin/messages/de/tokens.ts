import type { AdminWords } from '#/admin/messages/words.ts'

export const tokens: AdminWords['tokens'] = {
  about:
    'API-Token aller Personen, das neueste zuerst. Die Token selbst kennen nur ihre Besitzer. Wer gesperrt oder gelöscht wird, verliert alle.',
  filter: {
    title: 'Auswahl',
    user: 'Besitzer',
    userHint: 'E-Mail-Adresse oder Nummer',
    show: 'Anzeigen',
    clear: 'Alle anzeigen',
  },
  list: 'API-Token',
  owner: 'von <user></user>',
  none: 'Noch keine API-Token.',
  noneOf: 'Diese Person hat keine API-Token.',
  more: 'Mehr anzeigen',
  loadingMore: 'Wird geladen…',
  remove: {
    open: 'Entfernen',
    openThis: 'API-Token {name} von {email} entfernen',
    title: 'API-Token {name} entfernen?',
    effect: 'Programme von {email}, die es benutzen, werden ab dann abgewiesen. Es lässt sich nicht zurückholen.',
    confirm: 'Entfernen',
    busy: 'Wird entfernt…',
  },
}
