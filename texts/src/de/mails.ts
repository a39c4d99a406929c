import type { Translated } from '#/english.ts'

export const mails: Translated<'mails'> = {
  signupSubject: 'Deine Registrierung bei {product} abschließen',
  signupIntro: 'Willkommen bei {product}. Öffne diesen Link, um deine Registrierung abzuschließen:',
  signupButton: 'Registrierung abschließen',
  invitedSubject: 'Du bist zu {product} eingeladen',
  invitedIntro:
    'Du bist zu {product} eingeladen: {by} hat ein Konto für dich angelegt. Öffne diesen Link, um es zu benutzen:',
  invitedButton: 'Konto öffnen',
  loginSubject: 'Bei {product} anmelden',
  loginIntro: 'Öffne diesen Link, um dich bei {product} anzumelden:',
  loginButton: 'Anmelden',
  copy: 'Oder kopiere diese Adresse in deinen Browser:',
  lasts: 'Der Link funktioniert einmal, innerhalb von {duration}.',
  days: '{count, plural, one {{count} Tag} other {{count} Tagen}}',
  hours: '{count, plural, one {{count} Stunde} other {{count} Stunden}}',
  minutes: '{count, plural, one {{count} Minute} other {{count} Minuten}}',
  seconds: '{count, plural, one {{count} Sekunde} other {{count} Sekunden}}',
  asked:
    'Du bekommst diese E-Mail, weil {to} bei {product} eingegeben wurde{whence}, wahrscheinlich von dir. Wenn du das nicht warst, brauchst du nichts zu tun: Ohne den Link geschieht nichts.',
  invited:
    'Du bekommst diese E-Mail, weil {by} die Adresse {to} zu {product} eingeladen hat. Wenn du nicht weißt, warum, brauchst du nichts zu tun: Ohne den Link geschieht nichts.',
  sent: 'Du bekommst diese E-Mail, weil {by} diesen Link an {to} schicken ließ. Wenn du nicht weißt, warum, brauchst du nichts zu tun: Ohne den Link geschieht nichts.',
  operator: 'der Betreiber von {product}',
  withBrowser: ', mit {browser}',
  fromAddress: ', von der Adresse {address}',
  browserOnSystem: '{browser} unter {system}',
}
