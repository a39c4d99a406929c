import type { AuditAction } from '@berth/api/audit-actions.ts'

/** What is said of an action in one language. */
interface Words {
  /** What was done, for lists of actions. */
  readonly name: string
  /** Who did it to whom or what. */
  readonly sentence: string
}

/**
 * Words of each audit action, in the order of the filter. What is recorded: docs/reference/audit-actions.md. An action
 * without words does not compile, nor do words of none.
 */
const rows = {
  'user.block': {
    en: {
      name: 'Account blocked',
      sentence:
        '<b>{actor}</b> blocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
    },
    de: {
      name: 'Konto gesperrt',
      sentence:
        '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} gesperrt',
    },
  },
  'user.unblock': {
    en: {
      name: 'Account unblocked',
      sentence:
        '<b>{actor}</b> unblocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
    },
    de: {
      name: 'Konto entsperrt',
      sentence:
        '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} entsperrt',
    },
  },
  'user.delete': {
    en: { name: 'Account deleted', sentence: '<b>{actor}</b> deleted the account of <b>{person}</b>' },
    de: { name: 'Konto gelöscht', sentence: '<b>{actor}</b> hat das Konto von <b>{person}</b> gelöscht' },
  },
  'user.promote': {
    en: { name: 'Administrator rights given', sentence: '<b>{actor}</b> gave <b>{person}</b> administrator rights' },
    de: {
      name: 'Administratorrechte gegeben',
      sentence: '<b>{actor}</b> hat <b>{person}</b> Administratorrechte gegeben',
    },
  },
  'user.demote': {
    en: {
      name: 'Administrator rights taken',
      sentence: '<b>{actor}</b> took administrator rights from <b>{person}</b>',
    },
    de: {
      name: 'Administratorrechte entzogen',
      sentence: '<b>{actor}</b> hat <b>{person}</b> die Administratorrechte entzogen',
    },
  },
  'user.extra-disk': {
    en: {
      name: 'Extra disk room changed',
      sentence: '<b>{actor}</b> changed the extra disk room of <b>{person}</b>',
    },
    de: {
      name: 'Zusätzlicher Speicherplatz geändert',
      sentence: '<b>{actor}</b> hat den zusätzlichen Speicherplatz von <b>{person}</b> geändert',
    },
  },
  'user.takeover': {
    en: { name: 'Account taken over', sentence: '<b>{actor}</b> took over the account of <b>{person}</b>' },
    de: { name: 'Konto übernommen', sentence: '<b>{actor}</b> hat das Konto von <b>{person}</b> übernommen' },
  },
  'user.end-takeover': {
    en: { name: 'Takeover ended', sentence: '<b>{actor}</b> stopped acting for <b>{person}</b>' },
    de: { name: 'Übernahme beendet', sentence: '<b>{actor}</b> handelt nicht mehr für <b>{person}</b>' },
  },
  'user.invite': {
    en: { name: 'Invited', sentence: '<b>{actor}</b> invited <b>{person}</b>' },
    de: { name: 'Eingeladen', sentence: '<b>{actor}</b> hat <b>{person}</b> eingeladen' },
  },
  'user.invite-failed': {
    en: {
      name: 'Invitation not mailed',
      sentence: '<b>{actor}</b> invited <b>{person}</b>, but the mail was not accepted',
    },
    de: {
      name: 'Einladung nicht verschickt',
      sentence: '<b>{actor}</b> hat <b>{person}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    },
  },
  'user.resend-verification': {
    en: { name: 'Signup link sent again', sentence: '<b>{actor}</b> sent <b>{person}</b> another signup link' },
    de: {
      name: 'Registrierungslink erneut geschickt',
      sentence: '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt',
    },
  },
  'user.resend-verification-failed': {
    en: {
      name: 'Signup link not mailed',
      sentence: '<b>{actor}</b> sent <b>{person}</b> another signup link, but the mail was not accepted',
    },
    de: {
      name: 'Registrierungslink nicht verschickt',
      sentence:
        '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt, aber die E-Mail wurde nicht angenommen',
    },
  },
  'user.export': {
    en: { name: 'Personal data exported', sentence: '<b>{actor}</b> exported what is kept about <b>{person}</b>' },
    de: {
      name: 'Personendaten exportiert',
      sentence: '<b>{actor}</b> hat exportiert, was über <b>{person}</b> gespeichert ist',
    },
  },
  'user.download-archive': {
    en: { name: 'Archive downloaded', sentence: '<b>{person}</b> downloaded an archive by a mailed link' },
    de: {
      name: 'Archiv heruntergeladen',
      sentence: '<b>{person}</b> hat über einen Link aus einer E-Mail ein Archiv heruntergeladen',
    },
  },
  'environment.create': {
    en: { name: 'Environment made', sentence: '<b>{actor}</b> made <b>{environment}</b>' },
    de: { name: 'Umgebung angelegt', sentence: '<b>{actor}</b> hat <b>{environment}</b> angelegt' },
  },
  'environment.change': {
    en: { name: 'Environment changed', sentence: '<b>{actor}</b> changed <b>{environment}</b>' },
    de: { name: 'Umgebung geändert', sentence: '<b>{actor}</b> hat <b>{environment}</b> geändert' },
  },
  'environment.delete': {
    en: { name: 'Environment deleted', sentence: '<b>{actor}</b> deleted <b>{environment}</b>' },
    de: { name: 'Umgebung gelöscht', sentence: '<b>{actor}</b> hat <b>{environment}</b> gelöscht' },
  },
  'environment.build': {
    en: { name: 'Build begun', sentence: '<b>{actor}</b> had a version of <b>{environment}</b> built' },
    de: { name: 'Bau begonnen', sentence: '<b>{actor}</b> lässt eine Version von <b>{environment}</b> bauen' },
  },
  'environment.cancel': {
    en: { name: 'Build cancelled', sentence: '<b>{actor}</b> cancelled a build of <b>{environment}</b>' },
    de: { name: 'Bau abgebrochen', sentence: '<b>{actor}</b> hat einen Bau von <b>{environment}</b> abgebrochen' },
  },
  'environment.try': {
    en: { name: 'Version tried', sentence: '<b>{actor}</b> launched a version of <b>{environment}</b> to try it' },
    de: {
      name: 'Version ausprobiert',
      sentence: '<b>{actor}</b> hat eine Version von <b>{environment}</b> zum Ausprobieren gestartet',
    },
  },
  'environment.publish': {
    en: { name: 'Version published', sentence: '<b>{actor}</b> published a version of <b>{environment}</b>' },
    de: {
      name: 'Version veröffentlicht',
      sentence: '<b>{actor}</b> hat eine Version von <b>{environment}</b> veröffentlicht',
    },
  },
  'group.create': {
    en: { name: 'Group made', sentence: '<b>{actor}</b> made <b>{group}</b>' },
    de: { name: 'Gruppe angelegt', sentence: '<b>{actor}</b> hat <b>{group}</b> angelegt' },
  },
  'group.change': {
    en: { name: 'Group changed', sentence: '<b>{actor}</b> changed <b>{group}</b>' },
    de: { name: 'Gruppe geändert', sentence: '<b>{actor}</b> hat <b>{group}</b> geändert' },
  },
  'group.delete': {
    en: { name: 'Group deleted', sentence: '<b>{actor}</b> deleted <b>{group}</b>' },
    de: { name: 'Gruppe gelöscht', sentence: '<b>{actor}</b> hat <b>{group}</b> gelöscht' },
  },
  'group.add-member': {
    en: {
      name: 'Added to a group',
      sentence: '<b>{actor}</b> added <b>{person}</b> to <b>{group}</b>, or changed the role there',
    },
    de: {
      name: 'Zu einer Gruppe hinzugefügt',
      sentence: '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> hinzugefügt oder die Rolle dort geändert',
    },
  },
  'group.remove-member': {
    en: { name: 'Removed from a group', sentence: '<b>{actor}</b> removed <b>{person}</b> from <b>{group}</b>' },
    de: {
      name: 'Aus einer Gruppe entfernt',
      sentence: '<b>{actor}</b> hat <b>{person}</b> aus <b>{group}</b> entfernt',
    },
  },
  'group.invite': {
    en: { name: 'Invited to a group', sentence: '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>' },
    de: {
      name: 'Zu einer Gruppe eingeladen',
      sentence: '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen',
    },
  },
  'group.invite-failed': {
    en: {
      name: 'Invitation to a group not mailed',
      sentence: '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>, but the mail was not accepted',
    },
    de: {
      name: 'Einladung zu einer Gruppe nicht verschickt',
      sentence:
        '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    },
  },
  'group.preview-members': {
    en: {
      name: 'Addresses checked before an addition',
      sentence: '<b>{actor}</b> checked what adding addresses to <b>{group}</b> would do',
    },
    de: {
      name: 'Adressen vor dem Hinzufügen geprüft',
      sentence: '<b>{actor}</b> hat geprüft, was das Hinzufügen von Adressen zu <b>{group}</b> bewirkt',
    },
  },
  'group.end-term': {
    en: { name: 'End of term begun', sentence: '<b>{actor}</b> began the end of term of <b>{group}</b>' },
    de: { name: 'Kursende begonnen', sentence: '<b>{actor}</b> hat das Kursende von <b>{group}</b> begonnen' },
  },
  'group.cancel-term-end': {
    en: { name: 'End of term cancelled', sentence: '<b>{actor}</b> cancelled the end of term of <b>{group}</b>' },
    de: { name: 'Kursende abgebrochen', sentence: '<b>{actor}</b> hat das Kursende von <b>{group}</b> abgebrochen' },
  },
  'group.retry-term-end': {
    en: { name: 'End of term continued', sentence: '<b>{actor}</b> had the end of term of <b>{group}</b> go on' },
    de: { name: 'Kursende fortgesetzt', sentence: '<b>{actor}</b> hat das Kursende von <b>{group}</b> fortgesetzt' },
  },
  'group.remove-homes': {
    en: {
      name: 'Homes removed at the end of term',
      sentence: 'The end of term of <b>{group}</b>, begun by <b>{actor}</b>, removed homes of <b>{person}</b>',
    },
    de: {
      name: 'Home-Ordner am Kursende entfernt',
      sentence:
        'Das Kursende von <b>{group}</b>, begonnen von <b>{actor}</b>, hat Home-Ordner von <b>{person}</b> entfernt',
    },
  },
  'group.delete-archives': {
    en: {
      name: 'Archives deleted before their date',
      sentence: '<b>{actor}</b> deleted the archives of <b>{person}</b> from the end of term of <b>{group}</b>',
    },
    de: {
      name: 'Archive vor ihrem Datum gelöscht',
      sentence: '<b>{actor}</b> hat die Archive von <b>{person}</b> aus dem Kursende von <b>{group}</b> gelöscht',
    },
  },
  'group.withdraw-invitation': {
    en: {
      name: 'Invitation to a group withdrawn',
      sentence: '<b>{actor}</b> withdrew the invitation of <b>{person}</b> to <b>{group}</b>',
    },
    de: {
      name: 'Einladung in eine Gruppe zurückgezogen',
      sentence: '<b>{actor}</b> hat die Einladung von <b>{person}</b> zu <b>{group}</b> zurückgezogen',
    },
  },
  'group.join': {
    en: { name: 'Joined a group', sentence: '<b>{actor}</b> joined <b>{group}</b>' },
    de: { name: 'Einer Gruppe beigetreten', sentence: '<b>{actor}</b> ist <b>{group}</b> beigetreten' },
  },
  'group.create-join-code': {
    en: { name: 'Join code made', sentence: '<b>{actor}</b> made a join code for <b>{group}</b>' },
    de: {
      name: 'Beitrittscode erstellt',
      sentence: '<b>{actor}</b> hat einen Beitrittscode für <b>{group}</b> erstellt',
    },
  },
  'group.delete-join-code': {
    en: { name: 'Join code removed', sentence: '<b>{actor}</b> removed the join code of <b>{group}</b>' },
    de: {
      name: 'Beitrittscode entfernt',
      sentence: '<b>{actor}</b> hat den Beitrittscode von <b>{group}</b> entfernt',
    },
  },
  'group.start': {
    en: { name: 'Containers of a group started', sentence: '<b>{actor}</b> started containers of <b>{group}</b>' },
    de: {
      name: 'Container einer Gruppe gestartet',
      sentence: '<b>{actor}</b> hat Container von <b>{group}</b> gestartet',
    },
  },
  'group.restart-container': {
    en: {
      name: 'Container of a member restarted',
      sentence: '<b>{actor}</b> restarted the container of <b>{person}</b> in <b>{group}</b>',
    },
    de: {
      name: 'Container eines Mitglieds neu gestartet',
      sentence: '<b>{actor}</b> hat den Container von <b>{person}</b> in <b>{group}</b> neu gestartet',
    },
  },
  'group.read-failure': {
    en: {
      name: 'Failed start of a member read',
      sentence: '<b>{actor}</b> read why a container of <b>{person}</b> in <b>{group}</b> did not start',
    },
    de: {
      name: 'Fehlgeschlagenen Start eines Mitglieds gelesen',
      sentence: '<b>{actor}</b> hat gelesen, warum ein Container von <b>{person}</b> in <b>{group}</b> nicht startete',
    },
  },
  'group.ask-to-look': {
    en: {
      name: 'Member asked for a look',
      sentence: '<b>{actor}</b> asked <b>{person}</b> in <b>{group}</b> for a look at a container',
    },
    de: {
      name: 'Mitglied um einen Blick gebeten',
      sentence: '<b>{actor}</b> hat <b>{person}</b> in <b>{group}</b> gebeten, einen Container ansehen zu dürfen',
    },
  },
  'group.decline-look': {
    en: {
      name: 'Look declined by a member',
      sentence: '<b>{actor}</b> declined to let <b>{person}</b> of <b>{group}</b> look at a container',
    },
    de: {
      name: 'Blick von einem Mitglied abgelehnt',
      sentence: '<b>{actor}</b> hat <b>{person}</b> aus <b>{group}</b> nicht erlaubt, einen Container anzusehen',
    },
  },
  'group.end': {
    en: { name: 'Group ended', sentence: '<b>{actor}</b> ended <b>{group}</b>' },
    de: { name: 'Gruppe beendet', sentence: '<b>{actor}</b> hat <b>{group}</b> beendet' },
  },
  'group.set-folder': {
    en: { name: 'Folder of a group set', sentence: '<b>{actor}</b> set the folder of <b>{group}</b>' },
    de: { name: 'Ordner einer Gruppe gesetzt', sentence: '<b>{actor}</b> hat den Ordner von <b>{group}</b> gesetzt' },
  },
  'group.remove-folder': {
    en: { name: 'Folder of a group taken away', sentence: '<b>{actor}</b> took the folder of <b>{group}</b> away' },
    de: {
      name: 'Ordner einer Gruppe entfernt',
      sentence: '<b>{actor}</b> hat den Ordner von <b>{group}</b> entfernt',
    },
  },
  'group.set-timetable': {
    en: { name: 'Hours of a group changed', sentence: '<b>{actor}</b> changed the hours of <b>{group}</b>' },
    de: { name: 'Zeiten einer Gruppe geändert', sentence: '<b>{actor}</b> hat die Zeiten von <b>{group}</b> geändert' },
  },
  'group.stop': {
    en: {
      name: 'Containers of a group stopped',
      sentence:
        '<b>{actor}</b> stopped {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
    },
    de: {
      name: 'Container einer Gruppe gestoppt',
      sentence:
        '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> gestoppt',
    },
  },
  'group.block': {
    en: {
      name: 'Containers of a group blocked',
      sentence:
        '<b>{actor}</b> blocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
    },
    de: {
      name: 'Container einer Gruppe gesperrt',
      sentence:
        '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> gesperrt',
    },
  },
  'group.unblock': {
    en: {
      name: 'Containers of a group unblocked',
      sentence:
        '<b>{actor}</b> unblocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
    },
    de: {
      name: 'Container einer Gruppe entsperrt',
      sentence:
        '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> entsperrt',
    },
  },
  'container.block': {
    en: { name: 'Container blocked', sentence: '<b>{actor}</b> blocked <container></container>' },
    de: { name: 'Container gesperrt', sentence: '<b>{actor}</b> hat <container></container> gesperrt' },
  },
  'container.unblock': {
    en: { name: 'Container unblocked', sentence: '<b>{actor}</b> unblocked <container></container>' },
    de: { name: 'Container entsperrt', sentence: '<b>{actor}</b> hat <container></container> entsperrt' },
  },
  'container.delete': {
    en: { name: 'Container deleted', sentence: '<b>{actor}</b> deleted <container></container>' },
    de: { name: 'Container gelöscht', sentence: '<b>{actor}</b> hat <container></container> gelöscht' },
  },
  'container.share': {
    en: {
      name: 'Container shared',
      sentence: '<b>{actor}</b> shared <container></container>, or changed a share of it',
    },
    de: {
      name: 'Container geteilt',
      sentence: '<b>{actor}</b> hat <container></container> geteilt oder eine Freigabe geändert',
    },
  },
  'container.unshare': {
    en: { name: 'Share ended', sentence: '<b>{actor}</b> ended a share of <container></container>' },
    de: { name: 'Freigabe beendet', sentence: '<b>{actor}</b> hat für <container></container> eine Freigabe beendet' },
  },
  'container.stop': {
    en: { name: 'Container stopped', sentence: '<b>{actor}</b> stopped <container></container>' },
    de: { name: 'Container gestoppt', sentence: '<b>{actor}</b> hat <container></container> gestoppt' },
  },
  'container.stop-at-limit': {
    en: {
      name: 'Container stopped at its limit',
      sentence: '<b>{actor}</b> stopped <container></container>, which had written too much outside of its home',
    },
    de: {
      name: 'Container am Limit gestoppt',
      sentence:
        '<b>{actor}</b> hat <container></container> gestoppt, der außerhalb seines Home-Ordners zu viel geschrieben hatte',
    },
  },
  'container.restart': {
    en: { name: 'Container restarted', sentence: '<b>{actor}</b> restarted <container></container>' },
    de: { name: 'Container neu gestartet', sentence: '<b>{actor}</b> hat <container></container> neu gestartet' },
  },
  'container.read-logs': {
    en: { name: 'Logs of a container read', sentence: '<b>{actor}</b> read the logs of <container></container>' },
    de: {
      name: 'Log eines Containers gelesen',
      sentence: '<b>{actor}</b> hat das Log von <container></container> gelesen',
    },
  },
  'home.download': {
    en: {
      name: 'Snapshot downloaded',
      sentence: '<b>{actor}</b> began to download a snapshot of the home of <container></container>',
    },
    de: {
      name: 'Sicherungspunkt heruntergeladen',
      sentence: '<b>{actor}</b> hat begonnen, für <container></container> einen Sicherungspunkt herunterzuladen',
    },
  },
  'home.read-file': {
    en: {
      name: 'File downloaded',
      sentence: '<b>{actor}</b> began to download a file of the home of <container></container>',
    },
    de: {
      name: 'Datei heruntergeladen',
      sentence: '<b>{actor}</b> hat begonnen, für <container></container> eine Datei herunterzuladen',
    },
  },
  'home.remove-file': {
    en: { name: 'File deleted', sentence: '<b>{actor}</b> deleted a file of the home of <container></container>' },
    de: {
      name: 'Datei gelöscht',
      sentence: '<b>{actor}</b> hat für <container></container> eine Datei im Home-Ordner gelöscht',
    },
  },
  'home.upload': {
    en: {
      name: 'Archive uploaded',
      sentence: '<b>{actor}</b> uploaded an archive into the home of <container></container>',
    },
    de: {
      name: 'Archiv hochgeladen',
      sentence: '<b>{actor}</b> hat für <container></container> ein Archiv in den Home-Ordner hochgeladen',
    },
  },
  'home.reset': {
    en: {
      name: 'Home removed and begun anew',
      sentence: '<b>{actor}</b> removed the home of <container></container>, which begins anew',
    },
    de: {
      name: 'Home-Ordner entfernt und neu begonnen',
      sentence: '<b>{actor}</b> hat für <container></container> den Home-Ordner entfernt, der neu beginnt',
    },
  },
  'home.snapshot': {
    en: { name: 'Snapshot made', sentence: '<b>{actor}</b> made a snapshot of the home of <container></container>' },
    de: {
      name: 'Sicherungspunkt erstellt',
      sentence: '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt erstellt',
    },
  },
  'home.restore': {
    en: {
      name: 'Snapshot restored',
      sentence: '<b>{actor}</b> restored a snapshot into the home of <container></container>',
    },
    de: {
      name: 'Sicherungspunkt wiederhergestellt',
      sentence: '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt wiederhergestellt',
    },
  },
  'home.remove-former': {
    en: {
      name: 'Former home removed',
      sentence: '<b>{actor}</b> removed a former home of <container></container>',
    },
    de: {
      name: 'Früheres Home entfernt',
      sentence: '<b>{actor}</b> hat ein früheres Home von <container></container> entfernt',
    },
  },
  'home.change-owner': {
    en: {
      name: 'Home given to another account',
      sentence: '<b>{actor}</b> gave the home of <container></container> to another account of its container',
    },
    de: {
      name: 'Home einem anderen Konto gegeben',
      sentence: '<b>{actor}</b> hat das Home von <container></container> einem anderen Konto seines Containers gegeben',
    },
  },
  'home.remove-snapshot': {
    en: {
      name: 'Snapshot removed',
      sentence: '<b>{actor}</b> removed a snapshot of the home of <container></container>',
    },
    de: {
      name: 'Sicherungspunkt entfernt',
      sentence: '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt entfernt',
    },
  },
  'token.create': {
    en: { name: 'API token made', sentence: '<b>{actor}</b> made an API token for <b>{person}</b>' },
    de: { name: 'API-Token erstellt', sentence: '<b>{actor}</b> hat ein API-Token für <b>{person}</b> erstellt' },
  },
  'token.use': {
    en: {
      name: 'API token used',
      sentence: '<b>{actor}</b> used an API token of <b>{person}</b> for the first time, or after a pause',
    },
    de: {
      name: 'API-Token benutzt',
      sentence: '<b>{actor}</b> hat ein API-Token von <b>{person}</b> zum ersten Mal oder nach einer Pause benutzt',
    },
  },
  'ssh.add-key': {
    en: { name: 'SSH key added', sentence: '<b>{actor}</b> added an SSH key' },
    de: { name: 'SSH-Schlüssel hinzugefügt', sentence: '<b>{actor}</b> hat einen SSH-Schlüssel hinzugefügt' },
  },
  'ssh.remove-key': {
    en: { name: 'SSH key removed', sentence: '<b>{actor}</b> removed an SSH key' },
    de: { name: 'SSH-Schlüssel entfernt', sentence: '<b>{actor}</b> hat einen SSH-Schlüssel entfernt' },
  },
  'ssh.session': {
    en: { name: 'SSH session', sentence: '<b>{actor}</b> signed in over SSH' },
    de: { name: 'SSH-Sitzung', sentence: '<b>{actor}</b> hat sich über SSH angemeldet' },
  },
  'token.remove': {
    en: { name: 'API token removed', sentence: '<b>{actor}</b> removed an API token of <b>{person}</b>' },
    de: { name: 'API-Token entfernt', sentence: '<b>{actor}</b> hat ein API-Token von <b>{person}</b> entfernt' },
  },
  'keys.rotate': {
    en: { name: 'New signing key', sentence: '<b>{actor}</b> made a new signing key' },
    de: { name: 'Neuer Signaturschlüssel', sentence: '<b>{actor}</b> hat einen neuen Signaturschlüssel erzeugt' },
  },
  'templates.reload': {
    en: { name: 'Templates read again', sentence: '<b>{actor}</b> had the templates read again' },
    de: { name: 'Vorlagen neu gelesen', sentence: '<b>{actor}</b> hat die Vorlagen neu lesen lassen' },
  },
  'templates.update': {
    en: { name: 'Containers updated', sentence: '<b>{actor}</b> had containers of older templates brought up to date' },
    de: {
      name: 'Container aktualisiert',
      sentence: '<b>{actor}</b> hat Container älterer Vorlagen aktualisieren lassen',
    },
  },
  'link.print': {
    en: {
      name: 'Link printed',
      sentence:
        '<b>{actor}</b> printed {purpose, select, signup {a signup link} other {a sign-in link}} for <b>{person}</b>',
    },
    de: {
      name: 'Link ausgegeben',
      sentence:
        '<b>{actor}</b> hat {purpose, select, signup {einen Registrierungslink} other {einen Anmeldelink}} für <b>{person}</b> ausgegeben',
    },
  },
} as const satisfies Readonly<Record<AuditAction, Readonly<Record<'en' | 'de', Words>>>>

type Rows = typeof rows
type Language = keyof Rows[AuditAction]

/** Subject of an action: the first part of its name. */
export type ActionGroup = AuditAction extends infer A ? (A extends `${infer G}.${string}` ? G : never) : never

/** Words by subject and rest of the name, as the catalogue has them: `user.block` is `sentence.user.block`. */
type Tree<L extends Language, Part extends keyof Words> = {
  readonly [G in ActionGroup]: {
    readonly [A in AuditAction as A extends `${G}.${infer Name}` ? Name : never]: Rows[A][L][Part]
  }
}

const all = Object.keys(rows) as AuditAction[]
const groupOf = (action: AuditAction) => action.replace(/\..*$/, '') as ActionGroup

const groups: readonly ActionGroup[] = [...new Set(all.map(groupOf))]

const actionsOf = (group: ActionGroup): AuditAction[] => all.filter((action) => groupOf(action) === group)

/** Names and sentences of all actions in one language, for the catalogue. */
export function wordsOfActions<L extends Language>(
  language: L,
): { action: Tree<L, 'name'>; sentence: Tree<L, 'sentence'> } {
  const tree = (part: keyof Words) =>
    Object.fromEntries(
      groups.map((group) => [
        group,
        Object.fromEntries(
          actionsOf(group).map((action) => [action.slice(group.length + 1), rows[action][language][part]]),
        ),
      ]),
    )
  return { action: tree('name') as Tree<L, 'name'>, sentence: tree('sentence') as Tree<L, 'sentence'> }
}
