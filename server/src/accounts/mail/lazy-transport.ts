import type * as nodemailer from 'nodemailer'

type Options = Parameters<typeof nodemailer.createTransport>[0]

/** A mail transport. */
export interface LazyTransport {
  /** @throws what nodemailer throws */
  sendMail(mail: Parameters<nodemailer.Transporter['sendMail']>[0]): Promise<{ readonly message: unknown }>
  close(): void
}

/** nodemailer with these options, loaded by the first mail: it takes 3 MB, and most installations send mail rarely. */
export function lazyTransport(options: Options): LazyTransport {
  let made: Promise<nodemailer.Transporter> | undefined
  const make = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport(options) as nodemailer.Transporter
  }
  return {
    sendMail: async (mail) => {
      const transport = await (made ??= make())
      return (await transport.sendMail(mail)) as { message: unknown }
    },
    close: () => void made?.then((transport) => transport.close()),
  }
}
