/** Mail services where anyone can have an address: their domains prove nothing about an organisation. */
const domains = `
  126.com 163.com aim.com aliyun.com aol.com att.net bellsouth.net bigpond.com bluewin.ch bol.com.br btinternet.com
  charter.net comcast.net cox.net daum.net disroot.org duck.com earthlink.net email.cz fastmail.com fastmail.fm foxmail.com
  free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.com
  hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it hushmail.com icloud.com inbox.lv inbox.ru interia.pl
  keemail.me laposte.net libero.it list.ru live.ca live.co.uk live.com live.de live.fr live.nl mac.com mail.com mail.de
  mail.ru mailbox.org mailfence.com mailinator.com me.com msn.com naver.com neuf.fr nate.com ntlworld.com o2.pl onet.pl
  op.pl orange.fr outlook.com outlook.de outlook.es outlook.fr outlook.it outlook.jp pm.me posteo.de proton.me
  protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com riseup.net rocketmail.com rogers.com sapo.pt sbcglobal.net
  seznam.cz sfr.fr shaw.ca sina.com sky.com sohu.com startmail.com sympatico.ca t-online.de telenet.be telus.net
  terra.com.br tiscali.it tuta.io tutamail.com tutanota.com tutanota.de ukr.net uol.com.br verizon.net virgilio.it
  virginmedia.com vivaldi.net wanadoo.fr web.de wp.pl ya.ru yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com
  yahoo.com.au yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.in yahoo.it yandex.com yandex.ru yeah.net ymail.com
  yopmail.com zoho.com zohomail.com
`;

export const publicMailProviders: ReadonlySet<string> = new Set(domains.trim().split(/\s+/));
