import type { Words } from '#/messages/words.ts'

export const signIn: Words['signIn'] = {
  email: {
    label: 'E-Mail-Adresse',
    missing: 'Gib deine E-Mail-Adresse ein.',
    sending: 'Wird gesendet…',
  },
  ask: {
    title: 'Anmelden',
    lead: 'Gib deine E-Mail-Adresse ein, und wir schicken dir einen Anmeldelink. Du brauchst kein Passwort, auch nicht beim ersten Mal.',
    orLead: 'Oder gib deine E-Mail-Adresse ein, und wir schicken dir einen Anmeldelink. Du brauchst kein Passwort.',
    provider: 'Mit {name} anmelden',
    button: 'Link schicken',
    noMail:
      'Nach zwei Minuten keine E-Mail? Sieh im Spam-Ordner nach, prüfe die Adresse auf Tippfehler und lass dir dann einen neuen Link schicken.',
    ended:
      'Deine Anmeldung ist abgelaufen, oder sie wurde an anderer Stelle beendet. Melde dich wieder an, dann kommst du dorthin zurück, wo du warst. Deine Container und Dateien sind davon nicht betroffen.',
    endedExpired:
      'Deine Anmeldung ist zu Ende, weil sie lange nicht benutzt wurde oder ihre längste Dauer erreicht hat. Melde dich wieder an, dann kommst du dorthin zurück, wo du warst. Deine Container und Dateien sind davon nicht betroffen.',
    endedReplayed:
      'Deine Anmeldung wurde zum Schutz deines Kontos beendet: Eine alte Kopie davon wurde benutzt. Melde dich wieder an; wenn du diesen Browser oder Rechner nicht aus einer Kopie wiederhergestellt hast, sage deinem Administrator Bescheid.',
    endedBlocked: 'Deine Anmeldung ist zu Ende, weil dein Konto gesperrt wurde. Wende dich an deinen Administrator.',
    toContainer:
      'Um diesen Container zu öffnen, musst du angemeldet sein. Falls du gerade darin gearbeitet hast, ist deine Anmeldung abgelaufen; der Container läuft weiter.',
    onTheWay: 'Nach der Anmeldung geht es weiter zu <path>{next}</path>.',
    signedIn: 'Du bist schon angemeldet.',
    continue: 'Weiter',
  },
  problem: {
    contact: 'Wen du fragen kannst: <contact></contact>',
    'provider-unavailable':
      'Dieser Weg zur Anmeldung antwortet gerade nicht. Versuche es in einer Minute noch einmal, oder wähle einen anderen.',
    'provider-misconfigured':
      'Der Anbieter hat die Anmeldung abgelehnt, weil Berth dort nicht richtig eingerichtet ist. Sag es deinem Administrator.',
    'untrusted-answer':
      'Die Antwort des Anbieters ließ sich nicht prüfen, deshalb wurde die Anmeldung abgebrochen. Versuche es noch einmal; wenn es wieder geschieht, sag es deinem Administrator.',
    cancelled:
      'Die Anmeldung wurde beim Anbieter beendet, oder du darfst Berth mit dem Konto, das du dort gewählt hast, nicht benutzen.',
    'attempt-lost':
      'Diese Anmeldung hat zu lange gedauert, wurde schon benutzt oder in einem anderen Browser begonnen. Beginne hier von vorn.',
    'email-missing':
      'Der Anbieter hat keine E-Mail-Adresse geschickt, mit der Berth etwas anfangen kann. Trage dort eine ein, oder sag es deinem Administrator.',
    'email-unverified':
      'Der Anbieter bestätigt nicht, dass die E-Mail-Adresse dir gehört. Bestätige sie dort, und melde dich dann noch einmal an.',
    'email-taken':
      'Mit dieser E-Mail-Adresse meldet sich schon ein anderes Konto desselben Anbieters an. Sag es deinem Administrator.',
    'not-invited':
      'Zu deiner E-Mail-Adresse gibt es kein Konto, und sie darf sich nicht registrieren. Bitte deinen Administrator um eine Einladung.',
    'not-in-group':
      'Dein Konto beim Anbieter ist in keiner der Gruppen, die sich anmelden dürfen. Wende dich an deinen Administrator.',
    'groups-unknown':
      'Der Anbieter hat nicht mitgeteilt, in welchen Gruppen du bist. Deshalb ist nicht bekannt, ob du dich anmelden darfst. Sag es deinem Administrator.',
    blocked: 'Dieses Konto ist gesperrt. Deine Dateien bleiben erhalten. Frage deinen Administrator nach dem Grund.',
    failed: 'Die Anmeldung ließ sich nicht abschließen. Versuche es gleich noch einmal.',
  },
  check: {
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
  },
  verify: {
    loginTitle: 'Bei Berth anmelden',
    loginLead: 'Noch ein Schritt: Mit dem Knopf meldest du dich mit deinem Link an.',
    loginButton: 'Anmelden',
    signupTitle: 'Registrierung abschließen',
    signupLead:
      'Noch ein Schritt: Mit dem Knopf bestätigst du deine Adresse. Dein erster Container wird inzwischen vorbereitet.',
    signupButton: 'Registrierung abschließen',
    busy: 'Du wirst angemeldet…',
    goingOn: 'Du hast diesen Link in diesem Browser angefordert, darum wirst du ohne Knopf angemeldet.',
    newLink: 'Neuen Link schicken',
    contact: 'Wen du fragen kannst: <contact></contact>',
    signedIn: 'Du bist in diesem Browser angemeldet und brauchst keinen Link.',
    continue: 'Weiter',
  },
  refused: {
    expired: {
      title: 'Dieser Link ist abgelaufen',
      what: 'Links gelten nur kurze Zeit, und dieser ist zu alt.',
      todo: 'Gib deine Adresse ein, und wir schicken dir einen neuen.',
    },
    used: {
      title: 'Dieser Link ist schon benutzt',
      what: 'Jeder Link funktioniert einmal, und dieser wurde schon benutzt.',
      todo: 'Gib deine Adresse ein, und wir schicken dir einen neuen.',
    },
    otherKind: {
      title: 'Dieser Link gehört zu einer anderen Seite',
      what: 'Er stammt aus einer anderen Art E-Mail, als diese Seite erwartet.',
      todo: 'Öffne den Link so, wie er in der E-Mail steht, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
    },
    invalid: {
      title: 'Dieser Link ist ungültig',
      what: 'Berth kennt ihn nicht. Vielleicht fehlt ein Teil, oder er ist sehr alt.',
      todo: 'Öffne den ganzen Link aus der neuesten E-Mail, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
    },
    incomplete: {
      title: 'Dieser Link ist unvollständig',
      what: 'Das Ende seiner Adresse fehlt.',
      todo: 'Öffne den ganzen Link aus der E-Mail, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
    },
    unverified: {
      title: 'Deine Adresse ist noch nicht bestätigt',
      what: 'Nur der Link aus der ersten E-Mail bestätigt sie, und dies ist ein anderer.',
      todo: 'Gib deine Adresse ein, und wir schicken dir einen Link, der sie bestätigt.',
    },
    blocked: {
      title: 'Dieses Konto ist gesperrt',
      what: 'Ein Administrator hat es gesperrt, darum kann es gerade nicht benutzt werden. Deine Dateien bleiben erhalten.',
      todo: 'Frage deinen Administrator nach dem Grund und danach, wie die Sperre aufgehoben wird.',
    },
  },
  duration: {
    minutes: '{count, plural, one {# Minute} other {# Minuten}}',
    hours: '{count, plural, one {# Stunde} other {# Stunden}}',
    days: '{count, plural, one {# Tag} other {# Tage}}',
  },
}
