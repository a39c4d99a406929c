import type { Words } from '#/messages/words.ts'

export const stages: Words['dashboard']['stages'] = {
  title: 'Schritte des Starts',
  queued: 'In der Warteschlange',
  pulling: 'Image wird heruntergeladen',
  creating: 'Container wird erstellt',
  starting: 'Container wird gestartet',
  waiting: 'Warten auf die Anwendung',
}

export const stage: Words['dashboard']['stage'] = {
  queued: 'In der Warteschlange: Position {place} von {waiting}',
  pulling:
    'Image wird heruntergeladen{detail, select, none {} layers {: {done} von {total, plural, one {# Schicht} other {# Schichten}}} other {: {done} von {total, plural, one {# Schicht} other {# Schichten}}, {part} von {whole} {unit}}}',
  creating: 'Container wird erstellt',
  starting:
    '{detail, select, node {Warten auf einen Server mit Platz} volume {Warten auf den Speicher deiner Dateien} other {Container wird gestartet}}',
  waiting: 'Warten auf die Anwendung',
}

export const launch: Words['dashboard']['launch'] = {
  title: 'Dein Container wird gestartet',
  failedTitle: 'Dein Container wurde nicht gestartet',
  readyTitle: 'Dein Container läuft',
  starting: 'Er wird gestartet und hier geöffnet, sobald er bereit ist.',
  staying: 'Er wird gestartet.',
  ready: 'Er läuft.',
  going: 'Er läuft und wird geöffnet…',
  dashboard: 'Zu deinen Containern',
  firstLaunch: 'Beim ersten Mal kann das eine Minute dauern.',
  stay: 'Hier bleiben',
  open: 'Öffnen',
  noType: 'Dieser Link nennt keinen Container. Wähle hier einen aus.',
  signInAgain:
    'Berth kann nicht feststellen, ob du diese Seite selbst geöffnet hast. Melde dich an, um den Container zu starten.',
  signIn: 'Melde dich an, um deinen Container zu starten',
}
