import type { AuditAction } from '@berth/api/audit-actions.ts'
import type { Text } from '#/i18n/texts.ts'

/** What is said of an action. */
interface Words {
  /** What was done, for lists of actions. */
  readonly name: Text
  /** Who did it to whom or what. */
  readonly sentence: Text
}

/**
 * Words of each audit action, in the order of the filter. What is recorded: docs/reference/audit-actions.md. An action
 * without words does not compile, nor do words of none.
 */
const rows = {
  'user.block': {
    name: ['Account blocked', 'Konto gesperrt'],
    sentence: [
      '<b>{actor}</b> blocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
      '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} gesperrt',
    ],
  },
  'user.unblock': {
    name: ['Account unblocked', 'Konto entsperrt'],
    sentence: [
      '<b>{actor}</b> unblocked <b>{person}</b>{containers, plural, =0 {} one { and one container} other { and # containers}}',
      '<b>{actor}</b> hat <b>{person}</b>{containers, plural, =0 {} one { und einen Container} other { und # Container}} entsperrt',
    ],
  },
  'user.delete': {
    name: ['Account deleted', 'Konto gelöscht'],
    sentence: [
      '<b>{actor}</b> deleted the account of <b>{person}</b>',
      '<b>{actor}</b> hat das Konto von <b>{person}</b> gelöscht',
    ],
  },
  'user.promote': {
    name: ['Administrator rights given', 'Administratorrechte gegeben'],
    sentence: [
      '<b>{actor}</b> gave <b>{person}</b> administrator rights',
      '<b>{actor}</b> hat <b>{person}</b> Administratorrechte gegeben',
    ],
  },
  'user.demote': {
    name: ['Administrator rights taken', 'Administratorrechte entzogen'],
    sentence: [
      '<b>{actor}</b> took administrator rights from <b>{person}</b>',
      '<b>{actor}</b> hat <b>{person}</b> die Administratorrechte entzogen',
    ],
  },
  'user.extra-disk': {
    name: ['Extra disk room changed', 'Zusätzlicher Speicherplatz geändert'],
    sentence: [
      '<b>{actor}</b> changed the extra disk room of <b>{person}</b>',
      '<b>{actor}</b> hat den zusätzlichen Speicherplatz von <b>{person}</b> geändert',
    ],
  },
  'user.takeover': {
    name: ['Account taken over', 'Konto übernommen'],
    sentence: [
      '<b>{actor}</b> took over the account of <b>{person}</b>',
      '<b>{actor}</b> hat das Konto von <b>{person}</b> übernommen',
    ],
  },
  'user.end-takeover': {
    name: ['Takeover ended', 'Übernahme beendet'],
    sentence: [
      '<b>{actor}</b> stopped acting for <b>{person}</b>',
      '<b>{actor}</b> handelt nicht mehr für <b>{person}</b>',
    ],
  },
  'user.invite': {
    name: ['Invited', 'Eingeladen'],
    sentence: ['<b>{actor}</b> invited <b>{person}</b>', '<b>{actor}</b> hat <b>{person}</b> eingeladen'],
  },
  'user.invite-failed': {
    name: ['Invitation not mailed', 'Einladung nicht verschickt'],
    sentence: [
      '<b>{actor}</b> invited <b>{person}</b>, but the mail was not accepted',
      '<b>{actor}</b> hat <b>{person}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    ],
  },
  'user.resend-verification': {
    name: ['Signup link sent again', 'Registrierungslink erneut geschickt'],
    sentence: [
      '<b>{actor}</b> sent <b>{person}</b> another signup link',
      '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt',
    ],
  },
  'user.resend-verification-failed': {
    name: ['Signup link not mailed', 'Registrierungslink nicht verschickt'],
    sentence: [
      '<b>{actor}</b> sent <b>{person}</b> another signup link, but the mail was not accepted',
      '<b>{actor}</b> hat <b>{person}</b> noch einen Registrierungslink geschickt, aber die E-Mail wurde nicht angenommen',
    ],
  },
  'user.export': {
    name: ['Personal data exported', 'Personendaten exportiert'],
    sentence: [
      '<b>{actor}</b> exported what is kept about <b>{person}</b>',
      '<b>{actor}</b> hat exportiert, was über <b>{person}</b> gespeichert ist',
    ],
  },
  'user.download-archive': {
    name: ['Archive downloaded', 'Archiv heruntergeladen'],
    sentence: [
      '<b>{person}</b> downloaded an archive by a mailed link',
      '<b>{person}</b> hat über einen Link aus einer E-Mail ein Archiv heruntergeladen',
    ],
  },
  'environment.create': {
    name: ['Environment made', 'Umgebung angelegt'],
    sentence: ['<b>{actor}</b> made <b>{environment}</b>', '<b>{actor}</b> hat <b>{environment}</b> angelegt'],
  },
  'environment.change': {
    name: ['Environment changed', 'Umgebung geändert'],
    sentence: ['<b>{actor}</b> changed <b>{environment}</b>', '<b>{actor}</b> hat <b>{environment}</b> geändert'],
  },
  'environment.delete': {
    name: ['Environment deleted', 'Umgebung gelöscht'],
    sentence: ['<b>{actor}</b> deleted <b>{environment}</b>', '<b>{actor}</b> hat <b>{environment}</b> gelöscht'],
  },
  'environment.build': {
    name: ['Build begun', 'Bau begonnen'],
    sentence: [
      '<b>{actor}</b> had a version of <b>{environment}</b> built',
      '<b>{actor}</b> lässt eine Version von <b>{environment}</b> bauen',
    ],
  },
  'environment.cancel': {
    name: ['Build cancelled', 'Bau abgebrochen'],
    sentence: [
      '<b>{actor}</b> cancelled a build of <b>{environment}</b>',
      '<b>{actor}</b> hat einen Bau von <b>{environment}</b> abgebrochen',
    ],
  },
  'environment.try': {
    name: ['Version tried', 'Version ausprobiert'],
    sentence: [
      '<b>{actor}</b> launched a version of <b>{environment}</b> to try it',
      '<b>{actor}</b> hat eine Version von <b>{environment}</b> zum Ausprobieren gestartet',
    ],
  },
  'environment.publish': {
    name: ['Version published', 'Version veröffentlicht'],
    sentence: [
      '<b>{actor}</b> published a version of <b>{environment}</b>',
      '<b>{actor}</b> hat eine Version von <b>{environment}</b> veröffentlicht',
    ],
  },
  'group.create': {
    name: ['Group made', 'Gruppe angelegt'],
    sentence: ['<b>{actor}</b> made <b>{group}</b>', '<b>{actor}</b> hat <b>{group}</b> angelegt'],
  },
  'group.change': {
    name: ['Group changed', 'Gruppe geändert'],
    sentence: ['<b>{actor}</b> changed <b>{group}</b>', '<b>{actor}</b> hat <b>{group}</b> geändert'],
  },
  'group.delete': {
    name: ['Group deleted', 'Gruppe gelöscht'],
    sentence: ['<b>{actor}</b> deleted <b>{group}</b>', '<b>{actor}</b> hat <b>{group}</b> gelöscht'],
  },
  'group.add-member': {
    name: ['Added to a group', 'Zu einer Gruppe hinzugefügt'],
    sentence: [
      '<b>{actor}</b> added <b>{person}</b> to <b>{group}</b>, or changed the role there',
      '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> hinzugefügt oder die Rolle dort geändert',
    ],
  },
  'group.remove-member': {
    name: ['Removed from a group', 'Aus einer Gruppe entfernt'],
    sentence: [
      '<b>{actor}</b> removed <b>{person}</b> from <b>{group}</b>',
      '<b>{actor}</b> hat <b>{person}</b> aus <b>{group}</b> entfernt',
    ],
  },
  'group.invite': {
    name: ['Invited to a group', 'Zu einer Gruppe eingeladen'],
    sentence: [
      '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>',
      '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen',
    ],
  },
  'group.invite-failed': {
    name: ['Invitation to a group not mailed', 'Einladung zu einer Gruppe nicht verschickt'],
    sentence: [
      '<b>{actor}</b> invited <b>{person}</b> to <b>{group}</b>, but the mail was not accepted',
      '<b>{actor}</b> hat <b>{person}</b> zu <b>{group}</b> eingeladen, aber die E-Mail wurde nicht angenommen',
    ],
  },
  'group.preview-members': {
    name: ['Addresses checked before an addition', 'Adressen vor dem Hinzufügen geprüft'],
    sentence: [
      '<b>{actor}</b> checked what adding addresses to <b>{group}</b> would do',
      '<b>{actor}</b> hat geprüft, was das Hinzufügen von Adressen zu <b>{group}</b> bewirkt',
    ],
  },
  'group.end-term': {
    name: ['End of term begun', 'Kursende begonnen'],
    sentence: [
      '<b>{actor}</b> began the end of term of <b>{group}</b>',
      '<b>{actor}</b> hat das Kursende von <b>{group}</b> begonnen',
    ],
  },
  'group.cancel-term-end': {
    name: ['End of term cancelled', 'Kursende abgebrochen'],
    sentence: [
      '<b>{actor}</b> cancelled the end of term of <b>{group}</b>',
      '<b>{actor}</b> hat das Kursende von <b>{group}</b> abgebrochen',
    ],
  },
  'group.retry-term-end': {
    name: ['End of term continued', 'Kursende fortgesetzt'],
    sentence: [
      '<b>{actor}</b> had the end of term of <b>{group}</b> go on',
      '<b>{actor}</b> hat das Kursende von <b>{group}</b> fortgesetzt',
    ],
  },
  'group.remove-homes': {
    name: ['Homes removed at the end of term', 'Home-Ordner am Kursende entfernt'],
    sentence: [
      'The end of term of <b>{group}</b>, begun by <b>{actor}</b>, removed homes of <b>{person}</b>',
      'Das Kursende von <b>{group}</b>, begonnen von <b>{actor}</b>, hat Home-Ordner von <b>{person}</b> entfernt',
    ],
  },
  'group.delete-archives': {
    name: ['Archives deleted before their date', 'Archive vor ihrem Datum gelöscht'],
    sentence: [
      '<b>{actor}</b> deleted the archives of <b>{person}</b> from the end of term of <b>{group}</b>',
      '<b>{actor}</b> hat die Archive von <b>{person}</b> aus dem Kursende von <b>{group}</b> gelöscht',
    ],
  },
  'group.withdraw-invitation': {
    name: ['Invitation to a group withdrawn', 'Einladung in eine Gruppe zurückgezogen'],
    sentence: [
      '<b>{actor}</b> withdrew the invitation of <b>{person}</b> to <b>{group}</b>',
      '<b>{actor}</b> hat die Einladung von <b>{person}</b> zu <b>{group}</b> zurückgezogen',
    ],
  },
  'group.join': {
    name: ['Joined a group', 'Einer Gruppe beigetreten'],
    sentence: ['<b>{actor}</b> joined <b>{group}</b>', '<b>{actor}</b> ist <b>{group}</b> beigetreten'],
  },
  'group.create-join-code': {
    name: ['Join code made', 'Beitrittscode erstellt'],
    sentence: [
      '<b>{actor}</b> made a join code for <b>{group}</b>',
      '<b>{actor}</b> hat einen Beitrittscode für <b>{group}</b> erstellt',
    ],
  },
  'group.delete-join-code': {
    name: ['Join code removed', 'Beitrittscode entfernt'],
    sentence: [
      '<b>{actor}</b> removed the join code of <b>{group}</b>',
      '<b>{actor}</b> hat den Beitrittscode von <b>{group}</b> entfernt',
    ],
  },
  'group.start': {
    name: ['Containers of a group started', 'Container einer Gruppe gestartet'],
    sentence: [
      '<b>{actor}</b> started containers of <b>{group}</b>',
      '<b>{actor}</b> hat Container von <b>{group}</b> gestartet',
    ],
  },
  'group.restart-container': {
    name: ['Container of a member restarted', 'Container eines Mitglieds neu gestartet'],
    sentence: [
      '<b>{actor}</b> restarted the container of <b>{person}</b> in <b>{group}</b>',
      '<b>{actor}</b> hat den Container von <b>{person}</b> in <b>{group}</b> neu gestartet',
    ],
  },
  'group.read-failure': {
    name: ['Failed start of a member read', 'Fehlgeschlagenen Start eines Mitglieds gelesen'],
    sentence: [
      '<b>{actor}</b> read why a container of <b>{person}</b> in <b>{group}</b> did not start',
      '<b>{actor}</b> hat gelesen, warum ein Container von <b>{person}</b> in <b>{group}</b> nicht startete',
    ],
  },
  'group.ask-to-look': {
    name: ['Member asked for a look', 'Mitglied um einen Blick gebeten'],
    sentence: [
      '<b>{actor}</b> asked <b>{person}</b> in <b>{group}</b> for a look at a container',
      '<b>{actor}</b> hat <b>{person}</b> in <b>{group}</b> gebeten, einen Container ansehen zu dürfen',
    ],
  },
  'group.decline-look': {
    name: ['Look declined by a member', 'Blick von einem Mitglied abgelehnt'],
    sentence: [
      '<b>{actor}</b> declined to let <b>{person}</b> of <b>{group}</b> look at a container',
      '<b>{actor}</b> hat <b>{person}</b> aus <b>{group}</b> nicht erlaubt, einen Container anzusehen',
    ],
  },
  'group.end': {
    name: ['Group ended', 'Gruppe beendet'],
    sentence: ['<b>{actor}</b> ended <b>{group}</b>', '<b>{actor}</b> hat <b>{group}</b> beendet'],
  },
  'group.set-folder': {
    name: ['Folder of a group set', 'Ordner einer Gruppe gesetzt'],
    sentence: [
      '<b>{actor}</b> set the folder of <b>{group}</b>',
      '<b>{actor}</b> hat den Ordner von <b>{group}</b> gesetzt',
    ],
  },
  'group.remove-folder': {
    name: ['Folder of a group taken away', 'Ordner einer Gruppe entfernt'],
    sentence: [
      '<b>{actor}</b> took the folder of <b>{group}</b> away',
      '<b>{actor}</b> hat den Ordner von <b>{group}</b> entfernt',
    ],
  },
  'group.set-timetable': {
    name: ['Hours of a group changed', 'Zeiten einer Gruppe geändert'],
    sentence: [
      '<b>{actor}</b> changed the hours of <b>{group}</b>',
      '<b>{actor}</b> hat die Zeiten von <b>{group}</b> geändert',
    ],
  },
  'group.stop': {
    name: ['Containers of a group stopped', 'Container einer Gruppe gestoppt'],
    sentence: [
      '<b>{actor}</b> stopped {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
      '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> gestoppt',
    ],
  },
  'group.block': {
    name: ['Containers of a group blocked', 'Container einer Gruppe gesperrt'],
    sentence: [
      '<b>{actor}</b> blocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
      '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> gesperrt',
    ],
  },
  'group.unblock': {
    name: ['Containers of a group unblocked', 'Container einer Gruppe entsperrt'],
    sentence: [
      '<b>{actor}</b> unblocked {containers, plural, one {one container} other {# containers}} of <b>{group}</b>',
      '<b>{actor}</b> hat {containers, plural, one {einen Container} other {# Container}} von <b>{group}</b> entsperrt',
    ],
  },
  'container.block': {
    name: ['Container blocked', 'Container gesperrt'],
    sentence: ['<b>{actor}</b> blocked <container></container>', '<b>{actor}</b> hat <container></container> gesperrt'],
  },
  'container.unblock': {
    name: ['Container unblocked', 'Container entsperrt'],
    sentence: [
      '<b>{actor}</b> unblocked <container></container>',
      '<b>{actor}</b> hat <container></container> entsperrt',
    ],
  },
  'container.delete': {
    name: ['Container deleted', 'Container gelöscht'],
    sentence: ['<b>{actor}</b> deleted <container></container>', '<b>{actor}</b> hat <container></container> gelöscht'],
  },
  'container.share': {
    name: ['Container shared', 'Container geteilt'],
    sentence: [
      '<b>{actor}</b> shared <container></container>, or changed a share of it',
      '<b>{actor}</b> hat <container></container> geteilt oder eine Freigabe geändert',
    ],
  },
  'container.unshare': {
    name: ['Share ended', 'Freigabe beendet'],
    sentence: [
      '<b>{actor}</b> ended a share of <container></container>',
      '<b>{actor}</b> hat für <container></container> eine Freigabe beendet',
    ],
  },
  'container.stop': {
    name: ['Container stopped', 'Container gestoppt'],
    sentence: ['<b>{actor}</b> stopped <container></container>', '<b>{actor}</b> hat <container></container> gestoppt'],
  },
  'container.stop-at-limit': {
    name: ['Container stopped at its limit', 'Container am Limit gestoppt'],
    sentence: [
      '<b>{actor}</b> stopped <container></container>, which had written too much outside of its home',
      '<b>{actor}</b> hat <container></container> gestoppt, der außerhalb seines Home-Ordners zu viel geschrieben hatte',
    ],
  },
  'container.restart': {
    name: ['Container restarted', 'Container neu gestartet'],
    sentence: [
      '<b>{actor}</b> restarted <container></container>',
      '<b>{actor}</b> hat <container></container> neu gestartet',
    ],
  },
  'container.read-logs': {
    name: ['Logs of a container read', 'Log eines Containers gelesen'],
    sentence: [
      '<b>{actor}</b> read the logs of <container></container>',
      '<b>{actor}</b> hat das Log von <container></container> gelesen',
    ],
  },
  'home.download': {
    name: ['Snapshot downloaded', 'Sicherungspunkt heruntergeladen'],
    sentence: [
      '<b>{actor}</b> began to download a snapshot of the home of <container></container>',
      '<b>{actor}</b> hat begonnen, für <container></container> einen Sicherungspunkt herunterzuladen',
    ],
  },
  'home.read-file': {
    name: ['File downloaded', 'Datei heruntergeladen'],
    sentence: [
      '<b>{actor}</b> began to download a file of the home of <container></container>',
      '<b>{actor}</b> hat begonnen, für <container></container> eine Datei herunterzuladen',
    ],
  },
  'home.remove-file': {
    name: ['File deleted', 'Datei gelöscht'],
    sentence: [
      '<b>{actor}</b> deleted a file of the home of <container></container>',
      '<b>{actor}</b> hat für <container></container> eine Datei im Home-Ordner gelöscht',
    ],
  },
  'home.upload': {
    name: ['Archive uploaded', 'Archiv hochgeladen'],
    sentence: [
      '<b>{actor}</b> uploaded an archive into the home of <container></container>',
      '<b>{actor}</b> hat für <container></container> ein Archiv in den Home-Ordner hochgeladen',
    ],
  },
  'home.reset': {
    name: ['Home removed and begun anew', 'Home-Ordner entfernt und neu begonnen'],
    sentence: [
      '<b>{actor}</b> removed the home of <container></container>, which begins anew',
      '<b>{actor}</b> hat für <container></container> den Home-Ordner entfernt, der neu beginnt',
    ],
  },
  'home.snapshot': {
    name: ['Snapshot made', 'Sicherungspunkt erstellt'],
    sentence: [
      '<b>{actor}</b> made a snapshot of the home of <container></container>',
      '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt erstellt',
    ],
  },
  'home.restore': {
    name: ['Snapshot restored', 'Sicherungspunkt wiederhergestellt'],
    sentence: [
      '<b>{actor}</b> restored a snapshot into the home of <container></container>',
      '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt wiederhergestellt',
    ],
  },
  'home.remove-former': {
    name: ['Former home removed', 'Früheres Home entfernt'],
    sentence: [
      '<b>{actor}</b> removed a former home of <container></container>',
      '<b>{actor}</b> hat ein früheres Home von <container></container> entfernt',
    ],
  },
  'home.change-owner': {
    name: ['Home given to another account', 'Home einem anderen Konto gegeben'],
    sentence: [
      '<b>{actor}</b> gave the home of <container></container> to another account of its container',
      '<b>{actor}</b> hat das Home von <container></container> einem anderen Konto seines Containers gegeben',
    ],
  },
  'home.remove-snapshot': {
    name: ['Snapshot removed', 'Sicherungspunkt entfernt'],
    sentence: [
      '<b>{actor}</b> removed a snapshot of the home of <container></container>',
      '<b>{actor}</b> hat für <container></container> einen Sicherungspunkt entfernt',
    ],
  },
  'token.create': {
    name: ['API token made', 'API-Token erstellt'],
    sentence: [
      '<b>{actor}</b> made an API token for <b>{person}</b>',
      '<b>{actor}</b> hat ein API-Token für <b>{person}</b> erstellt',
    ],
  },
  'token.use': {
    name: ['API token used', 'API-Token benutzt'],
    sentence: [
      '<b>{actor}</b> used an API token of <b>{person}</b> for the first time, or after a pause',
      '<b>{actor}</b> hat ein API-Token von <b>{person}</b> zum ersten Mal oder nach einer Pause benutzt',
    ],
  },
  'ssh.add-key': {
    name: ['SSH key added', 'SSH-Schlüssel hinzugefügt'],
    sentence: ['<b>{actor}</b> added an SSH key', '<b>{actor}</b> hat einen SSH-Schlüssel hinzugefügt'],
  },
  'ssh.remove-key': {
    name: ['SSH key removed', 'SSH-Schlüssel entfernt'],
    sentence: ['<b>{actor}</b> removed an SSH key', '<b>{actor}</b> hat einen SSH-Schlüssel entfernt'],
  },
  'ssh.session': {
    name: ['SSH session', 'SSH-Sitzung'],
    sentence: ['<b>{actor}</b> signed in over SSH', '<b>{actor}</b> hat sich über SSH angemeldet'],
  },
  'token.remove': {
    name: ['API token removed', 'API-Token entfernt'],
    sentence: [
      '<b>{actor}</b> removed an API token of <b>{person}</b>',
      '<b>{actor}</b> hat ein API-Token von <b>{person}</b> entfernt',
    ],
  },
  'keys.rotate': {
    name: ['New signing key', 'Neuer Signaturschlüssel'],
    sentence: ['<b>{actor}</b> made a new signing key', '<b>{actor}</b> hat einen neuen Signaturschlüssel erzeugt'],
  },
  'templates.reload': {
    name: ['Templates read again', 'Vorlagen neu gelesen'],
    sentence: ['<b>{actor}</b> had the templates read again', '<b>{actor}</b> hat die Vorlagen neu lesen lassen'],
  },
  'templates.update': {
    name: ['Containers updated', 'Container aktualisiert'],
    sentence: [
      '<b>{actor}</b> had containers of older templates brought up to date',
      '<b>{actor}</b> hat Container älterer Vorlagen aktualisieren lassen',
    ],
  },
  'link.print': {
    name: ['Link printed', 'Link ausgegeben'],
    sentence: [
      '<b>{actor}</b> printed {purpose, select, signup {a signup link} other {a sign-in link}} for <b>{person}</b>',
      '<b>{actor}</b> hat {purpose, select, signup {einen Registrierungslink} other {einen Anmeldelink}} für <b>{person}</b> ausgegeben',
    ],
  },
} as const satisfies Readonly<Record<AuditAction, Words>>

/** Subject of an action: the first part of its name. */
export type ActionGroup = AuditAction extends infer A ? (A extends `${infer G}.${string}` ? G : never) : never

/** Words by subject and rest of the name, as the catalogue has them: `user.block` is `sentence.user.block`. */
type Tree<Part extends keyof Words> = {
  readonly [G in ActionGroup]: {
    readonly [A in AuditAction as A extends `${G}.${infer Name}` ? Name : never]: (typeof rows)[A][Part]
  }
}

/** Names or sentences of all actions, for the catalogue. */
export function wordsOfActions<Part extends keyof Words>(part: Part): Tree<Part> {
  const bySubject = Object.groupBy(Object.keys(rows) as AuditAction[], (action) => action.replace(/\..*$/, ''))
  return Object.fromEntries(
    Object.entries(bySubject).map(([group, actions = []]) => [
      group,
      Object.fromEntries(actions.map((action) => [action.slice(group.length + 1), rows[action][part]])),
    ]),
  ) as Tree<Part>
}
