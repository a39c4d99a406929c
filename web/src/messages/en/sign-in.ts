/** Text of sign-in. No sentence may reveal whether an address has an account. */
export const signIn = {
  email: {
    label: 'E-mail address',
    missing: 'Type your e-mail address.',
    sending: 'Sending…',
  },
  ask: {
    title: 'Sign in',
    lead: 'Type your e-mail address and we mail you a sign-in link. You need no password, and the first sign-in works the same way.',
    orLead: 'Or type your e-mail address and we mail you a sign-in link. You need no password.',
    provider: 'Sign in with {name}',
    button: 'Mail me a link',
    noMail:
      'No mail within two minutes? Look in the spam folder, check the address for a typo, then ask for another link.',
    ended:
      'Your sign-in has ended: it expired, or it was ended elsewhere. Sign in again and you come back to where you were. Your containers and files are not affected.',
    endedExpired:
      'Your sign-in has ended, because it was not used for a long time or reached its longest duration. Sign in again and you come back to where you were. Your containers and files are not affected.',
    endedReplayed:
      'Your sign-in was ended to protect your account: an old copy of it was used. Sign in again; if you did not restore this browser or machine from a copy, tell your administrator.',
    endedBlocked: 'Your sign-in has ended, because your account was blocked. Ask your administrator.',
    toContainer:
      'You have to be signed in to open this container. If you were working in it, your sign-in has ended; the container keeps running.',
    onTheWay: 'After signing in you continue to <path>{next}</path>.',
    signedIn: 'You are signed in already.',
    continue: 'Continue',
  },
  /** Why a sign-in by an OpenID Connect provider was refused, by the code of `signInProblems`. */
  problem: {
    contact: 'Whom to ask: <contact></contact>',
    'provider-unavailable':
      'This way to sign in does not answer at the moment. Try again in a minute, or choose another way.',
    'provider-misconfigured':
      'The provider refused the sign-in, because Berth is not set up correctly there. Tell your administrator.',
    'untrusted-answer':
      'The answer of the provider could not be verified, so the sign-in was stopped. Try again; if it happens again, tell your administrator.',
    cancelled: 'The sign-in was ended at the provider, or you may not use Berth with the account that you chose there.',
    'attempt-lost': 'This sign-in took too long, was used already, or was begun in another browser. Begin again here.',
    'email-missing':
      'The provider sent no e-mail address that Berth can use. Add one to your account there, or tell your administrator.',
    'email-unverified':
      'The provider does not confirm that your e-mail address is yours. Confirm it there, then sign in again.',
    'email-taken':
      'Another account of the same provider signs in with this e-mail address already. Tell your administrator.',
    'not-invited':
      'There is no account for your e-mail address, and it may not sign up. Ask your administrator for an invitation.',
    'not-in-group': 'Your account at the provider is in none of the groups that may sign in. Ask your administrator.',
    'groups-unknown':
      'The provider did not say which groups you are in, so it is not known whether you may sign in. Tell your administrator.',
    blocked: 'This account is blocked. Your files are kept. Ask your administrator why.',
    failed: 'The sign-in could not be finished. Try again in a moment.',
  },
  check: {
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
  },
  verify: {
    loginTitle: 'Sign in to Berth',
    loginLead: 'One more step: press the button to sign in with your link.',
    loginButton: 'Sign in',
    signupTitle: 'Finish signing up',
    signupLead: 'One more step: press the button to confirm your address. Your first container is prepared meanwhile.',
    signupButton: 'Finish signing up',
    busy: 'Signing in…',
    goingOn: 'You asked for this link in this browser, so you are signed in without a button.',
    newLink: 'Mail me a new link',
    contact: 'Whom to ask: <contact></contact>',
    signedIn: 'You are signed in in this browser, so you need no link.',
    continue: 'Continue',
  },
  /** Why a link was refused. */
  refused: {
    expired: {
      title: 'This link has expired',
      what: 'Links work for a short time only, and this one is too old.',
      todo: 'Type your address and we mail you a new one.',
    },
    used: {
      title: 'This link was used already',
      what: 'Each link works once, and this one has been used.',
      todo: 'Type your address and we mail you a new one.',
    },
    otherKind: {
      title: 'This link belongs to another page',
      what: 'It comes from a different kind of mail than this page expects.',
      todo: 'Open the link as it stands in the mail, or type your address and we mail you a new one.',
    },
    invalid: {
      title: 'This link is not valid',
      what: 'Berth does not know it. Perhaps a part is missing, or it is very old.',
      todo: 'Open the whole link from the newest mail, or type your address and we mail you a new one.',
    },
    incomplete: {
      title: 'This link is incomplete',
      what: 'The end of its address is missing.',
      todo: 'Open the whole link from the mail, or type your address and we mail you a new one.',
    },
    unverified: {
      title: 'Your address is not confirmed yet',
      what: 'Only the link in the first mail confirms it, and this is another link.',
      todo: 'Type your address and we mail you a link that confirms it.',
    },
    blocked: {
      title: 'This account is blocked',
      what: 'An administrator has blocked it, so it cannot be used at the moment. Your files are kept.',
      todo: 'Ask your administrator why, and how to have it unblocked.',
    },
  },
  /** A length of time. */
  duration: {
    minutes: '{count, plural, one {# minute} other {# minutes}}',
    hours: '{count, plural, one {# hour} other {# hours}}',
    days: '{count, plural, one {# day} other {# days}}',
  },
} as const
