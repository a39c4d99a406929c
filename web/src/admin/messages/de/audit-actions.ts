import type { AdminWords } from '#/admin/messages/words.ts'

export const action: AdminWords['audit']['action'] = {
  user: {
    block: 'Konto gesperrt',
    unblock: 'Konto entsperrt',
    delete: 'Konto gelöscht',
    promote: 'Administratorrechte gegeben',
    demote: 'Administratorrechte entzogen',
    takeover: 'Konto übernommen',
    'end-takeover': 'Übernahme beendet',
    invite: 'Eingeladen',
    'invite-failed': 'Einladung nicht verschickt',
    export: 'Personendaten exportiert',
    'resend-verification': 'Registrierungslink erneut geschickt',
    'resend-verification-failed': 'Registrierungslink nicht verschickt',
  },
  group: {
    create: 'Gruppe angelegt',
    change: 'Gruppe geändert',
    delete: 'Gruppe gelöscht',
    'add-member': 'Zu einer Gruppe hinzugefügt',
    'remove-member': 'Aus einer Gruppe entfernt',
    invite: 'Zu einer Gruppe eingeladen',
    'invite-failed': 'Einladung zu einer Gruppe nicht verschickt',
    'preview-members': 'Adressen vor dem Hinzufügen geprüft',
    'withdraw-invitation': 'Einladung in eine Gruppe zurückgezogen',
    join: 'Einer Gruppe beigetreten',
    'create-join-code': 'Beitrittscode erstellt',
    'delete-join-code': 'Beitrittscode entfernt',
    start: 'Container einer Gruppe gestartet',
    'restart-container': 'Container eines Mitglieds neu gestartet',
    'read-failure': 'Fehlgeschlagenen Start eines Mitglieds gelesen',
    end: 'Gruppe beendet',
    'set-timetable': 'Zeiten einer Gruppe geändert',
    stop: 'Container einer Gruppe angehalten',
    block: 'Container einer Gruppe gesperrt',
    unblock: 'Container einer Gruppe entsperrt',
  },
  container: {
    block: 'Container gesperrt',
    unblock: 'Container entsperrt',
    delete: 'Container gelöscht',
    share: 'Container geteilt',
    unshare: 'Freigabe beendet',
    stop: 'Container gestoppt',
  },
  token: { create: 'API-Token erstellt', use: 'API-Token benutzt', remove: 'API-Token entfernt' },
  keys: { rotate: 'Neuer Signaturschlüssel' },
  templates: { reload: 'Vorlagen neu gelesen', update: 'Container aktualisiert' },
  link: { print: 'Link ausgegeben' },
}

export const sentence: AdminWords['audit']['sentence'] = {
  user: {
    block:
      '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} gesperrt',
    unblock:
      '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} entsperrt',
    delete: '<b>{actor}</b> hat das Konto von <b>{person}</b> gelöscht',
    promote: '<b>{actor}</b> hat <b>{person}</b> Administratorrechte gegeben',
    demote: '<b>{actor}</b> hat <b>{person}</b> die Administratorrechte entzogen',
    takeover: '<b>{actor}</b> hat das Konto von <b>{person}</b> übernommen',
    'end-takeover': '<b>{actor}</b> handelt nicht mehr für <b>{person}</b>',
    invite: '<b>{actor}</b> hat <b>{person}</b> eingeladen',
    'invite-failed': '<b>{actor}</b> hat <b>{person}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    export: '<b>{actor}</b> hat exportiert, was über <b>{person}</b> gespeichert ist',
    'resend-verification': '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt',
    'resend-verification-failed':
      '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt, aber die E-Mail wurde nicht angenommen',
  },
  group: {
    create: '<b>{actor}</b> hat <b>{group}</b> angelegt',
    change: '<b>{actor}</b> hat <b>{group}</b> geändert',
    delete: '<b>{actor}</b> hat <b>{group}</b> gelöscht',
    'add-member': '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> hinzugefügt oder die Rolle dort geändert',
    'remove-member': '<b>{actor}</b> hat <b>{person}</b> aus <b>{group}</b> entfernt',
    invite: '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen',
    'invite-failed':
      '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    'preview-members': '<b>{actor}</b> hat geprüft, was das Hinzufügen von Adressen zu <b>{group}</b> bewirkt',
    'withdraw-invitation': '<b>{actor}</b> hat die Einladung von <b>{person}</b> zu <b>{group}</b> zurückgezogen',
    join: '<b>{actor}</b> ist <b>{group}</b> beigetreten',
    'create-join-code': '<b>{actor}</b> hat einen Beitrittscode für <b>{group}</b> erstellt',
    'delete-join-code': '<b>{actor}</b> hat den Beitrittscode von <b>{group}</b> entfernt',
    start: '<b>{actor}</b> hat Container von <b>{group}</b> gestartet',
    'restart-container': '<b>{actor}</b> hat den Container von <b>{person}</b> in <b>{group}</b> neu gestartet',
    'read-failure':
      '<b>{actor}</b> hat gelesen, warum ein Container von <b>{person}</b> in <b>{group}</b> nicht startete',
    end: '<b>{actor}</b> hat <b>{group}</b> beendet',
    'set-timetable': '<b>{actor}</b> hat die Zeiten von <b>{group}</b> geändert',
    stop: '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> angehalten',
    block:
      '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> gesperrt',
    unblock:
      '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> entsperrt',
  },
  container: {
    block: '<b>{actor}</b> hat <container></container> gesperrt',
    unblock: '<b>{actor}</b> hat <container></container> entsperrt',
    delete: '<b>{actor}</b> hat <container></container> gelöscht',
    share: '<b>{actor}</b> hat <container></container> geteilt oder eine Freigabe geändert',
    unshare: '<b>{actor}</b> hat eine Freigabe von <container></container> beendet',
    stop: '<b>{actor}</b> hat <container></container> gestoppt',
  },
  token: {
    create: '<b>{actor}</b> hat ein API-Token für <b>{person}</b> erstellt',
    use: '<b>{actor}</b> hat ein API-Token von <b>{person}</b> zum ersten Mal oder nach einer Pause benutzt',
    remove: '<b>{actor}</b> hat ein API-Token von <b>{person}</b> entfernt',
  },
  keys: { rotate: '<b>{actor}</b> hat einen neuen Signaturschlüssel erzeugt' },
  templates: {
    reload: '<b>{actor}</b> hat die Vorlagen neu lesen lassen',
    update: '<b>{actor}</b> hat Container älterer Vorlagen aktualisieren lassen',
  },
  link: {
    print:
      '<b>{actor}</b> hat {purpose, select, signup {einen Registrierungslink} other {einen Anmeldelink}} für <b>{person}</b> ausgegeben',
  },
  other: '<b>{actor}</b>: {action}, {target}',
}
