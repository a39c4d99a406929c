import type { Translated } from '#/english.ts'

export const ssh: Translated<'ssh'> = {
  unreadableKey:
    'Das ist kein öffentlicher SSH-Schlüssel. Füge die eine Zeile einer Datei ein, deren Name mit .pub endet, etwa ~/.ssh/id_ed25519.pub.',
  typeKey: 'Schlüssel dieser Art werden nicht angenommen. Erzeuge einen anderen: ssh-keygen -t ed25519',
  smallKey: 'Dieser RSA-Schlüssel hat weniger als 2.048 Bit. Erzeuge einen anderen: ssh-keygen -t ed25519',
  largeKey: 'Dieser RSA-Schlüssel hat mehr als 8.192 Bit. Erzeuge einen anderen: ssh-keygen -t ed25519',
  privateKey:
    'Das ist ein privater Schlüssel, den nur du haben darfst. Erzeuge ein anderes Paar, und füge die Zeile der Datei ein, deren Name mit .pub endet.',
  knownKey: 'Diesen Schlüssel hast du schon.',
  tooManyKeys: 'Du hast schon {max} SSH-Schlüssel, mehr dürfen es nicht sein. Entferne zuerst einen.',
  keyRemoved: 'Der SSH-Schlüssel ist entfernt.',
  mailSubject: 'Ein neuer SSH-Schlüssel für dein Konto bei {product}',
  mailIntro:
    'Der SSH-Schlüssel "{title}" wurde von der Adresse {address} zu deinem Konto bei {product} hinzugefügt. Sein Fingerabdruck: {fingerprint}',
  mailButton: 'Deine SSH-Schlüssel ansehen',
  mailRemove:
    'Wenn du es nicht warst: Entferne den Schlüssel dort, und beende alle anderen Sitzungen. Wer den Schlüssel hat, erreicht deine Container.',
  mailWhy: 'Du bekommst diese Mail, weil {to} die Adresse des Kontos bei {product} ist.',
  blocked: 'Dein Konto ist gesperrt. Frage die Administration.',
  tooManySessions: 'Du hast schon {max} SSH-Sitzungen, mehr dürfen es nicht sein. Beende zuerst eine.',
  tooManySessionsOfAll: 'Der SSH-Server hat so viele Sitzungen, wie er haben darf. Versuche es später noch einmal.',
  engineFailed: 'Der Container ist gerade nicht erreichbar. Versuche es gleich noch einmal.',
  noTool:
    'Dieser Container wurde ohne das angelegt, was SSH braucht: von einer früheren Version, oder während die Engine beschäftigt war. Starte ihn auf seiner Seite neu, und verbinde dich noch einmal.',
  containerStopped: 'Der Container wurde gestoppt.',
  containerIdle:
    'Der Container wurde gestoppt, weil er nicht benutzt wurde oder seine Zeit um war. Verbinde dich noch einmal, um ihn zu starten.',
  containerEvicted: 'Der Cluster hat den Container beendet. Verbinde dich noch einmal, um ihn zu starten.',
  containerBlocked: 'Der Container wurde von der Administration gesperrt.',
  containerFailed: 'Das Programm des Containers ist beendet.',
  containerGone: 'Der Container wurde entfernt.',
  accessEnded: 'Dein Konto wurde gesperrt oder entfernt.',
  keyEnded: 'Der Schlüssel dieser Sitzung wurde entfernt.',
  serverStops: 'Berth wird neu gestartet. Verbinde dich gleich noch einmal.',
}
