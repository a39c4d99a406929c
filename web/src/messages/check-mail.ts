import type { InOtherWords } from '#/messages/in-other-words.ts'

/** Text of the page that says what to do with a mailed link. No sentence may reveal whether an address has an account. */
export const checkMail = {
  title: 'Check your mail',
  sent: 'A link is on its way to <b>{email}</b>, if that address may sign in here.',
  unknown: 'If you asked for a link, it is in your mail.',
  what: 'Open the mail and follow its link, best in this browser. It works once.',
  whatUntil: 'Open the mail and follow its link, best in this browser. It works once, for {lifetime}.',
  nothing: 'No mail?',
  spam: 'Look in the spam folder.',
  slowMail: 'Wait a minute or two: some mail servers delay the first mail from a new sender.',
  typo: 'Check the address for a typo. <change>Change it</change>',
  again: 'Send it again',
  inSeconds: 'Send it again in {seconds, number} s',
  inMinutes: 'Send it again in {time}',
  left: '{left, plural, =0 {That was the last link of this hour. The newest one in your mail is still good.} one {You can ask for one more link in this hour.} other {You can ask for # more links in this hour.}}',
  sentAgain: 'Sent again. The older links stay good, too.',
  back: 'Ask for a link',
  withoutMail: 'Or sign in without a mail',
} as const

export const germanCheckMail: InOtherWords<typeof checkMail> = {
  title: 'Sieh in deine E-Mails',
  sent: 'An <b>{email}</b> ist ein Link unterwegs, sofern sich diese Adresse hier anmelden darf.',
  unknown: 'Wenn du einen Link angefordert hast, ist er in deinen E-Mails.',
  what: 'Öffne die E-Mail und folge ihrem Link, am besten in diesem Browser. Er funktioniert einmal.',
  whatUntil:
    'Öffne die E-Mail und folge ihrem Link, am besten in diesem Browser. Er funktioniert einmal und ist {lifetime} lang gültig.',
  nothing: 'Keine E-Mail bekommen?',
  spam: 'Sieh im Spam-Ordner nach.',
  slowMail: 'Warte ein bis zwei Minuten: Manche Mailserver verzögern die erste E-Mail eines neuen Absenders.',
  typo: 'Prüfe, ob die Adresse vertippt ist. <change>Adresse ändern</change>',
  again: 'Noch einmal senden',
  inSeconds: 'Noch einmal senden in {seconds, number} s',
  inMinutes: 'Noch einmal senden in {time}',
  left: '{left, plural, =0 {Das war der letzte Link in dieser Stunde. Der neueste in deinen E-Mails gilt noch.} one {Du kannst in dieser Stunde noch einen Link anfordern.} other {Du kannst in dieser Stunde noch # Links anfordern.}}',
  sentAgain: 'Noch einmal gesendet. Auch die älteren Links gelten weiter.',
  back: 'Einen Link anfordern',
  withoutMail: 'Oder ohne E-Mail anmelden',
}
