import type { Texts } from '#/i18n/texts.ts'

/** Text of the page of one's own API tokens. */
export const tokens = {
  title: ['API tokens', 'API-Token'],
  lead: [
    'An API token lets a program use your account without a browser, as far as its scopes allow. Keep it like a password.',
    'Mit einem API-Token benutzt ein Programm dein Konto ohne Browser, soweit die Rechte des Tokens reichen. Behandle es wie ein Passwort.',
  ],
  docs: ['How programs use it: <docs>API reference</docs>', 'So benutzen es Programme: <docs>API-Referenz</docs>'],
  none: ['You have no API tokens.', 'Du hast keine API-Token.'],
  scopes: ['Scopes: {scopes}', 'Rechte: {scopes}'],
  created: ['Created <at></at>', 'Erstellt <at></at>'],
  ends: ['valid until <at></at>', 'gültig bis <at></at>'],
  ended: ['expired <at></at>', 'abgelaufen <at></at>'],
  expired: ['Expired', 'Abgelaufen'],
  used: ['last used <at></at>', 'zuletzt benutzt <at></at>'],
  unused: ['never used', 'nie benutzt'],
  remove: ['Remove', 'Entfernen'],
  removeThis: ['Remove the API token: {name}', 'API-Token entfernen: {name}'],
  removed: ['The API token is removed.', 'Das API-Token ist entfernt.'],
  ask: {
    title: ['Remove the API token {name}?', 'API-Token {name} entfernen?'],
    effect: [
      'Programs that use it are refused from then on. It cannot be brought back.',
      'Programme, die es benutzen, werden ab dann abgewiesen. Es lässt sich nicht zurückholen.',
    ],
  },
  create: {
    title: ['New API token', 'Neues API-Token'],
    name: ['Name', 'Name des Tokens'],
    nameHint: [
      'What it is for, such as the program that uses it',
      'Wofür es ist, zum Beispiel das Programm, das es benutzt',
    ],
    nameMissing: ['Enter a name.', 'Gib einen Namen ein.'],
    scopes: ['What it may do', 'Was es darf'],
    scopesMissing: ['Choose at least one.', 'Wähle mindestens eines.'],
    ends: ['Valid for', 'Gültig für'],
    days: ['{days, plural, one {One day} other {# days}}', '{days, plural, one {Einen Tag} other {# Tage}}'],
    year: ['One year', 'Ein Jahr'],
    button: ['Create the token', 'Token erstellen'],
    busy: ['Creating…', 'Wird erstellt…'],
    notNow: [
      'During a takeover no API tokens can be created or removed.',
      'Während einer Übernahme lassen sich keine API-Token erstellen oder entfernen.',
    ],
  },
  scope: {
    containersRead: [
      'See your account, containers, groups and shares, and download snapshots',
      'Konto, Container, Gruppen und Freigaben ansehen, Sicherungspunkte herunterladen',
    ],
    containersWrite: [
      'See, start, restart and stop your containers, and change their homes and snapshots',
      'Container ansehen, starten, neu starten und stoppen, Home-Ordner und Sicherungspunkte ändern',
    ],
    adminRead: ['See what administrators see', 'Ansehen, was Administratoren sehen'],
    adminWrite: ['Do what administrators do, except takeovers', 'Tun, was Administratoren tun, außer Übernahmen'],
  },
  fresh: {
    title: ['Your new API token', 'Dein neues API-Token'],
    once: ['Copy it now: it is shown only once.', 'Kopiere es jetzt: Es wird nur einmal gezeigt.'],
    done: ['Done', 'Fertig'],
  },
} as const satisfies Texts
