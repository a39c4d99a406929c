import type { Translated } from '#/english.ts'

export const sharing: Translated<'sharing'> = {
  off: 'Container lassen sich hier so nicht teilen: Das ist nicht eingeschaltet.',
  badEnd:
    'Das Ende muss in der Zukunft liegen, höchstens {hours, plural, one {# Stunde} other {# Stunden}} von jetzt an.',
  ownAddress: 'Das ist deine eigene Adresse. Gib Adressen anderer Leute ein.',
  withNoOne: 'Gib mindestens eine Adresse ein oder wähle eine Gruppe.',
  tooMany: 'Ein Container lässt sich höchstens {max}-mal teilen. Beende zuerst eine Freigabe.',
  openAnyway: 'Container dieser Art dürfen andere ohnehin öffnen, es gibt also nichts zu teilen.',
  closedPort:
    'Port {port} dieses Containers hat keine Adresse, also lässt er sich nicht teilen. Wähle einen, den der Typ erlaubt.',
  fullToken:
    'Die Anwendung in diesem Container hat dein eigenes Token, das Gäste nehmen könnten. Deshalb lässt er sich nicht teilen.',
  shared: 'Der Container ist freigegeben.',
  ended: 'Die Freigabe ist beendet; was Gäste offen hatten, ist geschlossen.',
  lookByManagers:
    'Nur wer diese Gruppe leitet, kann fragen. Administratoren geben sich vorher selbst die Leitung, was im Protokoll steht.',
  askedTooOften:
    'Du kannst gerade nicht fragen: Die Anfrage wurde abgelehnt, oder du hast mehrmals gefragt. Versuche es in {minutes, plural, one {# Minute} other {# Minuten}} wieder oder sprich mit der Person.',
  ownContainer: 'Das ist dein eigener Container.',
  blockedContainer: 'Das Konto oder der Container ist gesperrt, deshalb kann er nicht angesehen werden.',
  asked: '{email} wurde gefragt. Der Container öffnet sich mit der Zustimmung.',
  agreed: '{email} darf ihn jetzt ansehen.',
  declined: 'Du hast abgelehnt. Für eine Weile kann nicht wieder gefragt werden.',
  sandboxed:
    'Container der Arten {types} lassen sich teilen und haben keine eigenen Hosts: Gäste bekommen ihre Seiten in einer Sandbox, in der nur einzelne Seiten funktionieren. Setze CONTAINER_ROUTING=subdomain, oder sandbox_visitors: false für Leute, die einander vertrauen.',
}
