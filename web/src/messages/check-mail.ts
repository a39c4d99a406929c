import type { Texts } from '#/i18n/texts.ts'

/** Text of the page that says what to do with a mailed link. No sentence may reveal whether an address has an account. */
export const checkMail = {
  title: ['Check your mail', 'Sieh in deine E-Mails'],
  sent: [
    'A link is on its way to <b>{email}</b>, if that address may sign in here.',
    'An <b>{email}</b> ist ein Link unterwegs, sofern sich diese Adresse hier anmelden darf.',
  ],
  unknown: [
    'If you asked for a link, it is in your mail.',
    'Wenn du einen Link angefordert hast, ist er in deinen E-Mails.',
  ],
  what: [
    'Open the mail and follow its link, best in this browser. It works once.',
    'Öffne die E-Mail und folge ihrem Link, am besten in diesem Browser. Er funktioniert einmal.',
  ],
  whatUntil: [
    'Open the mail and follow its link, best in this browser. It works once, for {lifetime}.',
    'Öffne die E-Mail und folge ihrem Link, am besten in diesem Browser. Er funktioniert einmal und ist {lifetime} lang gültig.',
  ],
  nothing: ['No mail?', 'Keine E-Mail bekommen?'],
  spam: ['Look in the spam folder.', 'Sieh im Spam-Ordner nach.'],
  slowMail: [
    'Wait a minute or two: some mail servers delay the first mail from a new sender.',
    'Warte ein bis zwei Minuten: Manche Mailserver verzögern die erste E-Mail eines neuen Absenders.',
  ],
  typo: [
    'Check the address for a typo. <change>Change it</change>',
    'Prüfe, ob die Adresse vertippt ist. <change>Adresse ändern</change>',
  ],
  again: ['Send it again', 'Noch einmal senden'],
  inSeconds: ['Send it again in {seconds, number} s', 'Noch einmal senden in {seconds, number} s'],
  inMinutes: ['Send it again in {time}', 'Noch einmal senden in {time}'],
  left: [
    '{left, plural, =0 {That was the last link of this hour. The newest one in your mail is still good.} one {You can ask for one more link in this hour.} other {You can ask for # more links in this hour.}}',
    '{left, plural, =0 {Das war der letzte Link in dieser Stunde. Der neueste in deinen E-Mails gilt noch.} one {Du kannst in dieser Stunde noch einen Link anfordern.} other {Du kannst in dieser Stunde noch # Links anfordern.}}',
  ],
  sentAgain: [
    'Sent again. The older links stay good, too.',
    'Noch einmal gesendet. Auch die älteren Links gelten weiter.',
  ],
  back: ['Ask for a link', 'Einen Link anfordern'],
  withoutMail: ['Or sign in without a mail', 'Oder ohne E-Mail anmelden'],
} as const satisfies Texts
