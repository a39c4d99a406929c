import type { sessions as english } from '#/messages/en/sessions.ts'
import type { InOtherWords } from '#/messages/words.ts'

export const sessions: InOtherWords<typeof english> = {
  title: 'Wo du angemeldet bist',
  lead: 'Jeder Browser und jedes Programm, das dein Konto benutzen darf. Beende, was du nicht kennst oder nicht mehr brauchst.',
  loading: 'Deine Sitzungen werden geladen…',
  current: 'Dieser Browser',
  browserOn: '{browser} unter {system}',
  unknown: 'Ein Programm oder ein unbekannter Browser',
  since: 'Seit <since></since>',
  from: 'von {address}',
  used: 'benutzt <used></used>',
  began: 'über {provider}',
  byLink: 'über einen Anmeldelink',
  until: 'endet <until></until>, wenn sie nicht benutzt wird',
  end: 'Beenden',
  endThis: 'Sitzung beenden: {name}',
  others: 'Alle anderen beenden',
  othersHint: 'Hier bleibst du angemeldet.',
  alone: 'Du bist nirgends sonst angemeldet.',
  ended: '{count, plural, one {Eine Sitzung ist beendet.} other {# Sitzungen sind beendet.}}',
  takeovers: 'Wer für dich gehandelt hat',
  takeoversLead:
    'Administratoren können höchstens eine Viertelstunde lang für dich handeln und müssen sagen, warum. Ältere Einträge werden nach einiger Zeit gelöscht.',
  acts: '{by} handelt gerade für dich',
  acted: '{by} hat für dich gehandelt',
  reason: 'Grund: {reason}',
  span: '<from></from> bis <to></to>',
  untilThen: 'Seit <since></since>, spätestens bis <until></until>',
}
