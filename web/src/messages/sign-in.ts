import type { Texts } from '#/i18n/texts.ts'

/** Text of sign-in. No sentence may reveal whether an address has an account. */
export const signIn = {
  email: {
    label: ['E-mail address', 'E-Mail-Adresse'],
    missing: ['Enter your e-mail address.', 'Gib deine E-Mail-Adresse ein.'],
    sending: ['Sending…', 'Wird gesendet…'],
  },
  ask: {
    title: ['Sign in', 'Anmelden'],
    lead: [
      'Enter your e-mail address and we will send you a sign-in link. You need no password, and signing in for the first time works the same way.',
      'Gib deine E-Mail-Adresse ein, und wir schicken dir einen Anmeldelink. Du brauchst kein Passwort, auch nicht beim ersten Mal.',
    ],
    orLead: [
      'Or enter your e-mail address and we will send you a sign-in link. You need no password.',
      'Oder gib deine E-Mail-Adresse ein, und wir schicken dir einen Anmeldelink. Du brauchst kein Passwort.',
    ],
    provider: ['Sign in with {name}', 'Mit {name} anmelden'],
    button: ['Send me a link', 'Link schicken'],
    noMail: [
      'No mail within two minutes? Look in the spam folder, check the address for a typo, then ask for another link.',
      'Nach zwei Minuten keine E-Mail? Sieh im Spam-Ordner nach, prüfe die Adresse auf Tippfehler und lass dir dann einen neuen Link schicken.',
    ],
    ended: [
      'Your sign-in has ended: it expired, or it was ended elsewhere. Sign in again and you come back to where you were. Your containers and files are not affected.',
      'Deine Anmeldung ist abgelaufen, oder sie wurde an anderer Stelle beendet. Melde dich wieder an, dann kommst du dorthin zurück, wo du warst. Deine Container und Dateien sind davon nicht betroffen.',
    ],
    endedExpired: [
      'Your sign-in has ended, because it was not used for a long time or reached its longest duration. Sign in again and you come back to where you were. Your containers and files are not affected.',
      'Deine Anmeldung ist zu Ende, weil sie lange nicht benutzt wurde oder ihre längste Dauer erreicht hat. Melde dich wieder an, dann kommst du dorthin zurück, wo du warst. Deine Container und Dateien sind davon nicht betroffen.',
    ],
    endedReplayed: [
      'Your sign-in was ended to protect your account: an old copy of it was used. Sign in again; if you did not restore this browser or machine from a copy, tell your administrator.',
      'Deine Anmeldung wurde zum Schutz deines Kontos beendet: Eine alte Kopie davon wurde benutzt. Melde dich wieder an; wenn du diesen Browser oder Rechner nicht aus einer Kopie wiederhergestellt hast, sage deinem Administrator Bescheid.',
    ],
    endedBlocked: [
      'Your sign-in has ended, because your account was blocked. Ask your administrator.',
      'Deine Anmeldung ist zu Ende, weil dein Konto gesperrt wurde. Wende dich an deinen Administrator.',
    ],
    toContainer: [
      'You have to be signed in to open this container. If you were working in it, your sign-in has ended; the container keeps running.',
      'Um diesen Container zu öffnen, musst du angemeldet sein. Falls du gerade darin gearbeitet hast, ist deine Anmeldung abgelaufen; der Container läuft weiter.',
    ],
    onTheWay: [
      'After signing in you continue to <path>{next}</path>.',
      'Nach der Anmeldung geht es weiter zu <path>{next}</path>.',
    ],
    signedIn: ['You are signed in already.', 'Du bist schon angemeldet.'],
    continue: ['Continue', 'Weiter'],
  },
  /** Why a sign-in by an OpenID Connect provider was refused, by the code of `signInProblems`. */
  problem: {
    contact: ['Contact: <contact></contact>', 'Wen du fragen kannst: <contact></contact>'],
    'provider-unavailable': [
      'This way to sign in does not answer at the moment. Try again in a minute, or choose another way.',
      'Dieser Weg zur Anmeldung antwortet gerade nicht. Versuche es in einer Minute noch einmal, oder wähle einen anderen.',
    ],
    'provider-misconfigured': [
      'The provider refused the sign-in, because Berth is not set up correctly there. Tell your administrator.',
      'Der Anbieter hat die Anmeldung abgelehnt, weil Berth dort nicht richtig eingerichtet ist. Sag es deinem Administrator.',
    ],
    'untrusted-answer': [
      'The answer of the provider could not be verified, so the sign-in was stopped. Try again; if it happens again, tell your administrator.',
      'Die Antwort des Anbieters ließ sich nicht prüfen, deshalb wurde die Anmeldung abgebrochen. Versuche es noch einmal; wenn es wieder geschieht, sag es deinem Administrator.',
    ],
    cancelled: [
      'The sign-in was ended at the provider, or you may not use Berth with the account that you chose there.',
      'Die Anmeldung wurde beim Anbieter beendet, oder du darfst Berth mit dem Konto, das du dort gewählt hast, nicht benutzen.',
    ],
    'attempt-lost': [
      'This sign-in took too long, was used already, or was started in another browser. Start again here.',
      'Diese Anmeldung hat zu lange gedauert, wurde schon benutzt oder in einem anderen Browser begonnen. Beginne hier von vorn.',
    ],
    'email-missing': [
      'The provider sent no e-mail address that Berth can use. Add one to your account there, or tell your administrator.',
      'Der Anbieter hat keine E-Mail-Adresse geschickt, mit der Berth etwas anfangen kann. Trage dort eine ein, oder sag es deinem Administrator.',
    ],
    'email-unverified': [
      'The provider does not confirm that your e-mail address is yours. Confirm it there, then sign in again.',
      'Der Anbieter bestätigt nicht, dass die E-Mail-Adresse dir gehört. Bestätige sie dort, und melde dich dann noch einmal an.',
    ],
    'email-taken': [
      'Another account of the same provider signs in with this e-mail address already. Tell your administrator.',
      'Mit dieser E-Mail-Adresse meldet sich schon ein anderes Konto desselben Anbieters an. Sag es deinem Administrator.',
    ],
    'not-invited': [
      'There is no account for your e-mail address, and it may not sign up. Ask your administrator for an invitation.',
      'Zu deiner E-Mail-Adresse gibt es kein Konto, und sie darf sich nicht registrieren. Bitte deinen Administrator um eine Einladung.',
    ],
    'not-in-group': [
      'Your account at the provider is in none of the groups that may sign in. Ask your administrator.',
      'Dein Konto beim Anbieter ist in keiner der Gruppen, die sich anmelden dürfen. Wende dich an deinen Administrator.',
    ],
    'groups-unknown': [
      'The provider did not say which groups you are in, so it is not known whether you may sign in. Tell your administrator.',
      'Der Anbieter hat nicht mitgeteilt, in welchen Gruppen du bist. Deshalb ist nicht bekannt, ob du dich anmelden darfst. Sag es deinem Administrator.',
    ],
    blocked: [
      'This account is blocked. Your files are kept. Ask your administrator why.',
      'Dieses Konto ist gesperrt. Deine Dateien bleiben erhalten. Frage deinen Administrator nach dem Grund.',
    ],
    failed: [
      'The sign-in could not be finished. Try again in a moment.',
      'Die Anmeldung ließ sich nicht abschließen. Versuche es gleich noch einmal.',
    ],
  },
  verify: {
    loginTitle: ['Sign in to Berth', 'Bei Berth anmelden'],
    loginLead: [
      'One more step: press the button to sign in with your link.',
      'Noch ein Schritt: Mit dem Knopf meldest du dich mit deinem Link an.',
    ],
    loginButton: ['Sign in', 'Anmelden'],
    signupTitle: ['Finish signing up', 'Registrierung abschließen'],
    signupLead: [
      'One more step: press the button to confirm your address. Your first container is prepared meanwhile.',
      'Noch ein Schritt: Mit dem Knopf bestätigst du deine Adresse. Dein erster Container wird inzwischen vorbereitet.',
    ],
    signupButton: ['Finish signing up', 'Registrierung abschließen'],
    busy: ['Signing in…', 'Du wirst angemeldet…'],
    goingOn: [
      'You asked for this link in this browser, so you are signed in without a button.',
      'Du hast diesen Link in diesem Browser angefordert, darum wirst du ohne Knopf angemeldet.',
    ],
    newLink: ['Send me a new link', 'Neuen Link schicken'],
    contact: ['Contact: <contact></contact>', 'Wen du fragen kannst: <contact></contact>'],
    signedIn: [
      'This browser is signed in already, so you need no link.',
      'Du bist in diesem Browser angemeldet und brauchst keinen Link.',
    ],
    continue: ['Continue', 'Weiter'],
  },
  /** Why a link was refused. */
  refused: {
    expired: {
      title: ['This link has expired', 'Dieser Link ist abgelaufen'],
      what: [
        'Links work for a short time only, and this one is too old.',
        'Links gelten nur kurze Zeit, und dieser ist zu alt.',
      ],
      todo: [
        'Enter your address and we will send you a new one.',
        'Gib deine Adresse ein, und wir schicken dir einen neuen.',
      ],
    },
    used: {
      title: ['This link was used already', 'Dieser Link ist schon benutzt'],
      what: [
        'Each link works once, and this one has been used.',
        'Jeder Link funktioniert einmal, und dieser wurde schon benutzt.',
      ],
      todo: [
        'Enter your address and we will send you a new one.',
        'Gib deine Adresse ein, und wir schicken dir einen neuen.',
      ],
    },
    otherKind: {
      title: ['This link belongs to another page', 'Dieser Link gehört zu einer anderen Seite'],
      what: [
        'It comes from a different kind of mail than this page expects.',
        'Er stammt aus einer anderen Art E-Mail, als diese Seite erwartet.',
      ],
      todo: [
        'Open the link exactly as it is in the mail, or enter your address and we will send you a new one.',
        'Öffne den Link so, wie er in der E-Mail steht, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
      ],
    },
    invalid: {
      title: ['This link is not valid', 'Dieser Link ist ungültig'],
      what: [
        'Berth does not know it. Perhaps a part is missing, or it is very old.',
        'Berth kennt ihn nicht. Vielleicht fehlt ein Teil, oder er ist sehr alt.',
      ],
      todo: [
        'Open the whole link from the newest mail, or enter your address and we will send you a new one.',
        'Öffne den ganzen Link aus der neuesten E-Mail, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
      ],
    },
    incomplete: {
      title: ['This link is incomplete', 'Dieser Link ist unvollständig'],
      what: ['The end of its address is missing.', 'Das Ende seiner Adresse fehlt.'],
      todo: [
        'Open the whole link from the mail, or enter your address and we will send you a new one.',
        'Öffne den ganzen Link aus der E-Mail, oder gib deine Adresse ein, und wir schicken dir einen neuen.',
      ],
    },
    unverified: {
      title: ['Your address is not confirmed yet', 'Deine Adresse ist noch nicht bestätigt'],
      what: [
        'Only the link in the first mail confirms it, and this is another link.',
        'Nur der Link aus der ersten E-Mail bestätigt sie, und dies ist ein anderer.',
      ],
      todo: [
        'Enter your address and we will send you a link that confirms it.',
        'Gib deine Adresse ein, und wir schicken dir einen Link, der sie bestätigt.',
      ],
    },
    blocked: {
      title: ['This account is blocked', 'Dieses Konto ist gesperrt'],
      what: [
        'An administrator has blocked it, so it cannot be used at the moment. Your files are kept.',
        'Ein Administrator hat es gesperrt, darum kann es gerade nicht benutzt werden. Deine Dateien bleiben erhalten.',
      ],
      todo: [
        'Ask your administrator why, and how to have it unblocked.',
        'Frage deinen Administrator nach dem Grund und danach, wie die Sperre aufgehoben wird.',
      ],
    },
  },
  /** A length of time. */
  duration: {
    minutes: ['{count, plural, one {# minute} other {# minutes}}', '{count, plural, one {# Minute} other {# Minuten}}'],
    hours: ['{count, plural, one {# hour} other {# hours}}', '{count, plural, one {# Stunde} other {# Stunden}}'],
    days: ['{count, plural, one {# day} other {# days}}', '{count, plural, one {# Tag} other {# Tage}}'],
  },
} as const satisfies Texts
