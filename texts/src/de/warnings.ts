import type { Translated } from '#/english.ts'

export const warnings: Translated<'warnings'> = {
  addresses: 'Wenig Adressen: Nur noch {left} weitere Container finden in den Netzwerken von Berth Platz.',
  disk: 'Wenig Plattenplatz: {free} von {total} sind frei; unter {min} wird kein Container angelegt.',
  memory: 'Wenig Arbeitsspeicher: {free} von {total} sind verfügbar; unter {min} wird kein Container gestartet.',
  fullHomes: 'Volle Home-Ordner: {count}. {homes}.',
  nearlyFullHomes: 'Fast volle Home-Ordner: {count}. {homes}.',
  nearlyFullLayers:
    'Container, die außerhalb ihrer Home-Ordner fast so viel geschrieben haben, wie sie dürfen: {count}. {containers}.',
  theLargest: 'Die größten: {homes}',
  home: '{name} (Konto {userId}): {used} von {limit}',
  unmeasuredHomes: 'Home-Ordner, die die Engine nicht messen kann: {count}. {homes}. Kein Limit zählt sie.',
  unmeasuredHome: '{name} (Konto {userId})',
  noPolicies: 'NetworkPolicies trennen die Container nicht voneinander: {reason}.',
  noRules: 'Keine Regeln halten Container von diesem Server fern: {reason}.',
  notRestored: 'Diese liefen vor dem Neustart der Engine und konnten nicht wieder gestartet werden: {names}.',
  notRestoredAndMore:
    'Diese liefen vor dem Neustart der Engine und konnten nicht wieder gestartet werden: {names} und {more} weitere.',
  restored: '{type} von Konto {userId}',
  leftToDo: 'Die Aufgabe „{task}“ ist noch nicht fertig ({what}).',
  seeLog: 'der Grund steht im Log',
  engineFailed: '{doing}: {why}',
  engineUnreachable: 'die Engine antwortet nicht',
  noContainer: 'diesen Container gibt es nicht',
  nameTaken: 'der Name ist vergeben',
  noImage: 'das Image kann nicht geladen werden',
  nodeLost: 'der Knoten, auf dem er ist, antwortet nicht',
  engineCannot: 'die Engine kann es nicht',
}
