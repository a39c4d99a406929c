/** Words on the way in. Nobody is told whether an address has an account, so no sentence may sound as if we knew. */
export const signIn = {
  email: {
    label: 'E-mail address',
    missing: 'Type your e-mail address.',
    sending: 'Sending…',
  },
  ask: {
    title: 'Sign in',
    lead: 'Type your e-mail address and we mail you a link that lets you in. There is no password, and the first time works the same way.',
    button: 'Mail me a link',
    ended:
      'Your sign-in has ended: its time was over, or it was ended in another place. Sign in again and you come back to where you were. Your containers and files are not affected.',
    toContainer:
      'This container opens for people who are signed in. If you were at work in it, your sign-in has ended; the container runs on.',
    onTheWay: 'After that you go on to <path>{next}</path>.',
    signedIn: 'You are signed in already.',
    goOn: 'Go on',
  },
  check: {
    title: 'Check your mail',
    sent: 'A link is on its way to <b>{email}</b>, if that address may sign in here.',
    unknown: 'If you asked for a link, it is in your mail.',
    what: 'Open the mail and follow its link, best in this browser. It works once.',
    whatUntil: 'Open the mail and follow its link, best in this browser. It works once, for {lifetime}.',
    nothing: 'Nothing there?',
    spam: 'Look in the spam folder.',
    slowMail: 'Wait a minute or two: some mail servers keep a first mail waiting.',
    typo: 'Check the address for a typo. <change>Change it</change>',
    again: 'Send it again',
    inSeconds: 'Send it again in {seconds, number} s',
    inMinutes: 'Send it again in {time}',
    left: '{left, plural, =0 {That was the last link of this hour. The newest one in your mail is still good.} one {You can ask for one more link in this hour.} other {You can ask for # more links in this hour.}}',
    sentAgain: 'Sent again. The older links stay good, too.',
    back: 'Ask for a link',
  },
  verify: {
    loginTitle: 'Sign in to Berth',
    loginLead: 'One more step: press the button to sign in with your link.',
    loginButton: 'Sign in',
    signupTitle: 'Finish signing up',
    signupLead: 'One more step: press the button to confirm your address. Your first container is prepared meanwhile.',
    signupButton: 'Finish signing up',
    busy: 'One moment…',
    goingOn: 'You asked for this link in this browser, so it goes on by itself.',
    newLink: 'Mail me a new link',
    contact: 'Whom to ask: <contact></contact>',
    signedIn: 'You are signed in in this browser, so you need no link.',
    goOn: 'Go on',
  },
  /** Why a link let nobody in. */
  refused: {
    expired: {
      title: 'This link has expired',
      what: 'Links work for a short time only, and this one is too old.',
      todo: 'Type your address and we mail you a new one.',
    },
    used: {
      title: 'This link was used already',
      what: 'Each link works once, and this one has let somebody in before.',
      todo: 'Type your address and we mail you a new one.',
    },
    otherKind: {
      title: 'This link is for something else',
      what: 'It is from another kind of mail than this page is for.',
      todo: 'Open the link as it stands in the mail, or type your address and we mail you a new one.',
    },
    invalid: {
      title: 'This link is not valid',
      what: 'Berth does not know it. Perhaps a part is missing, or it is very old.',
      todo: 'Open the whole link from the newest mail, or type your address and we mail you a new one.',
    },
    incomplete: {
      title: 'This link is incomplete',
      what: 'The part that lets you in is missing.',
      todo: 'Open the whole link from the mail, or type your address and we mail you a new one.',
    },
    unverified: {
      title: 'Your address is not confirmed yet',
      what: 'The link in the very first mail confirms it, and this is another one.',
      todo: 'Type your address and we mail you a link that does.',
    },
    blocked: {
      title: 'This account is blocked',
      what: 'An administrator has blocked it, so it cannot be used at the moment. Your files are kept.',
      todo: 'Ask your administrator why, and what has to happen to lift the block.',
    },
  },
  /** A length of time. */
  duration: {
    minutes: '{count, plural, one {# minute} other {# minutes}}',
    hours: '{count, plural, one {# hour} other {# hours}}',
    days: '{count, plural, one {# day} other {# days}}',
  },
} as const
