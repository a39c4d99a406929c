import type { Translated } from '../catalogue.ts'

export const sharing: Translated<'sharing'> = {
  off: 'Container lassen sich hier so nicht teilen: Das ist nicht eingeschaltet.',
  badEnd:
    'Das Ende muss in der Zukunft liegen, höchstens {hours, plural, one {# Stunde} other {# Stunden}} von jetzt an.',
  ownAddress: 'Das ist deine eigene Adresse. Gib Adressen anderer Leute ein.',
  withNoOne: 'Gib mindestens eine Adresse ein oder wähle eine Gruppe.',
  tooMany: 'Ein Container lässt sich höchstens {max}-mal teilen. Beende zuerst eine Freigabe.',
  openAnyway: 'Container dieser Art dürfen andere ohnehin öffnen, es gibt also nichts zu teilen.',
  fullToken:
    'Die Anwendung in diesem Container hat dein eigenes Token, das Gäste nehmen könnten. Deshalb lässt er sich nicht teilen.',
  shared: 'Der Container ist freigegeben.',
  ended: 'Die Freigabe ist beendet; was Gäste offen hatten, ist geschlossen.',
  sandboxed:
    'Container der Arten {types} lassen sich teilen und haben keine eigenen Hosts: Gäste bekommen ihre Seiten in einer Sandbox, in der nur einzelne Seiten funktionieren. Setze CONTAINER_ROUTING=subdomain, oder sandbox_visitors: false für Leute, die einander vertrauen.',
}
