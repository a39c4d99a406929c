import type { Translated } from '../catalogue.ts'

export const answers: Translated<'answers'> = {
  linkSentIfKnown:
    'Wenn es für diese Adresse ein Konto gibt, haben wir ihm einen Link geschickt. Sieh in deine E-Mails.',
  linkSent: 'Sieh in deine E-Mails: Wir haben dir einen Link geschickt.',
  signedOut: 'Du bist abgemeldet.',
  sessionEnded: 'Die Sitzung ist beendet.',
  sessionsEnded: '{count, plural, one {{count} andere Sitzung ist} other {{count} andere Sitzungen sind}} beendet.',
  running: 'Dein Container läuft.',
  restarted: 'Dein Container wurde neu gestartet.',
  containerBlocked: 'Der Container ist gesperrt.',
  containerUnblocked: 'Der Container ist nicht mehr gesperrt.',
  containersBlocked: '{count} Container gesperrt.',
  containersUnblocked: '{count} Container entsperrt.',
  containerStopped: 'Der Container ist angehalten.',
  containerDidNotRun: 'Der Container läuft nicht; es wurde nichts getan.',
  containerDeleted: 'Der Container ist gelöscht.{rest}',
  userBlocked: 'Das Konto und seine Container sind gesperrt.',
  userUnblocked: 'Das Konto ist nicht mehr gesperrt.',
  userDeleted: 'Das Konto und seine Container sind gelöscht.{rest}',
  engineIsLate: ' Die Engine hat noch nicht alles entfernt; das wird wiederholt, bis es geschehen ist.',
  promoted: 'Das Konto gehört jetzt einem Administrator.',
  demoted: 'Das Konto gehört keinem Administrator mehr.',
  linkSentTo: 'Ein Registrierungslink wurde an {email} geschickt.',
  invited: '{invited} von {all} eingeladen.',
  keyRotated: 'Neue Token werden mit dem neuen Schlüssel unterschrieben; niemand wird abgemeldet.',
}
