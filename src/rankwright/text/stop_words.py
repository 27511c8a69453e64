"""The commonest words of languages, which say little of what a text is about.

English has the short list that search engines share; the others have articles, pronouns, prepositions, conjunctions and
auxiliary verbs. A language that is not here has no stop words.
"""

from __future__ import annotations

_LISTS = {
    "english": """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    """,
    "german": """
    aber als am an auch auf aus bei bin bis bist da dadurch daher darum das daß dass dein deine dem den der des
    dessen deshalb die dies dieser dieses doch dort du durch ein eine einem einen einer eines er es euer eure für
    hatte hatten hattest hattet hier hinter ich ihr ihre im in ist ja jede jedem jeden jeder jedes jener jenes jetzt
    kann kannst können könnt machen mein meine mit muß mußt musst müssen müßt nach nachdem nein nicht nun oder seid
    sein seine sich sie sind soll sollen sollst sollt sonst soweit sowie und unser unsere unter vom von vor wann
    warum was weiter weitere wenn wer werde werden werdet weshalb wie wieder wieso wir wird wirst wo woher wohin zu
    zum zur über
    """,
    "french": """
    à au aux avec c ce ces d dans de des du elle en est et eu il ils je j l la le les leur leurs lui m ma mais me
    même mes mon n ne nos notre nous on ou où par pas pour qu que qui s sa se ses son sont sur t ta te tes ton tu un
    une vos votre vous y a ont été être fait c'est d'un d'une
    """,
    "spanish": """
    a al algo ante antes como con cual cuando de del desde donde durante e el él ella ellas ellos en entre era es
    esa ese eso esta está este esto estos fue ha han hasta hay la las le les lo los más me mi mis muy nada ni no nos
    nosotros o os otra otro para pero poco por porque que qué quien se sea ser si sí sin sobre son su sus también te
    tiene todo tu tus un una unas uno unos y ya yo
    """,
    "italian": """
    a ad ai al alla alle allo agli anche c che chi ci come con cui da dai dal dalla dalle dallo dei degli del della
    delle dello di dove e è ed era fra gli ha hanno ho i il in io l la le lei li lo loro lui ma mi mia mio ne negli
    nei nel nella nelle nello noi non nostra nostro o per più quale quanto quella quelle quelli quello questa queste
    questi questo se sei si sia siamo sono su sua sue sui sul sulla sulle sullo suo suoi ti tra tu tua tuo un una
    uno vi voi
    """,
    "portuguese": """
    a à ao aos as às até com como da das de dela dele deles depois do dos e é ela elas ele eles em entre era essa
    esse esta está este eu foi há isso isto já lhe lhes mais mas me mesmo meu meus minha muito na não nas nem no nos
    nossa nosso num numa o os ou para pela pelas pelo pelos por qual quando que quem são se sem ser seu seus só sua
    suas também te tem tu tua um uma você vocês
    """,
    "dutch": """
    aan af al als bij dan dat de der deze die dit door dus een en er ge geen had heb hebben heeft hem het hier hij
    hoe hun ik in is ja je kan kon maar me meer men met mij mijn moet na naar niet niets nog nu of om ons ook op
    over reeds te tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden
    zal ze zei zelf zich zij zijn zo zonder zou
    """,
    "swedish": """
    alla allt att av blev bli blir de dem den denna deras dess det detta dig din du där då efter ej eller en er ett
    från för ha hade han hans har henne hennes hon honom hur här i icke inte jag kan kunde man med mellan men mig
    min mot mycket ni nu när någon något några och om oss på samma sedan sig sin sitt ska skulle som så till under
    upp ut vad var varför vara vi vid vilka vilken än är över
    """,
    "norwegian": """
    alle at av ble bli blir både da de dei deg den denne der dere det dette din du eg ein eit eller en er et ett
    etter fordi for fra før ha hadde han hans har hennes her hun hva hvem hvor i ikke inn ja jeg kan kom kunne man
    med meg men mer mi min mot mye ned nei noe noen nå når og også om opp oss over på samme seg selv si sin sitt
    skal skulle slik som så til um under ut var vi vil ville være vår å
    """,
    "danish": """
    ad af aldrig alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dog du efter
    eller en end er et for fordi fra før ham han hans har hende hendes her hos hun hvad hvis hvor i ikke ind ja jeg
    jer jo kan kunne man mange med meget men mig min mod når ned nej noget nogle nu og også om op os over på selv
    sig sin skal skulle som sådan thi til ud under var vi vil ville være
    """,
    "finnish": """
    ei eivät emme en et että he heidän heitä hän hänen häntä ja joka jos jotka kanssa koska kuin kuka me meidän mikä
    mitä mutta myös ne niiden niin nyt noin nämä näiden ole olen olet oli olin olivat ollut on ovat saa se sekä sen
    siinä siitä sillä sinä sitä tai te tämä tämän tätä vai vaan vaikka voi
    """,
    "russian": """
    а без бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее если есть еще же за и
    из или им их к как ко когда кто ли мне мы на над не него нее нет ни них но о об он она они оно от по под при с
    со так такой там то того тоже той только том ты у уже хотя чего чей чем что чтобы чье эта эти это я
    """,
    "hungarian": """
    a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek ami amíg annak arra az azok azon azt azután be csak
    de e egy egyes egyéb egyik el ez ezek ezen ezt fel hanem hiszen hogy hogyan igen ill itt is ki le lehet lenne
    lesz lett maga már meg mert mi mint mivel most más nagyon nem nincs olyan ott ő ők őket pedig s saját se sem
    számára szemben talán úgy után utolsó vagy vagyok van vannak vele vissza volt voltak
    """,
    "romanian": """
    a acea această acest ai al ale am ar are aș așa asupra au avea ca că care ce cea cei cel cele cine către cu cum
    da dar de deci din după ea ei el ele erau este eu fi fie fost i iar îi îl în între la le lor lui mai mea mi nici
    noastre noi nu o ori pe pentru prin s sa să sale sau se și sub sunt te toate tot tu un una unei unor unui va vă
    voi
    """,
    "polish": """
    a aby ale bez bo być był była było były ci co czy dla do gdy gdzie go i ich im inne iż ja jak jako je jednak
    jego jej jest już każdy kiedy kto która które którego której który których którzy lub ma mają może można my na
    nad nie nim niż o od on ona oni oraz pod po przed przez przy się są ta tak także tam te tego tej ten to tu tych
    tylko tym u w we wiele więc z za ze że
    """,
    "czech": """
    a aby ale ani až bez by byl byla bylo byly být co což či dnes do ho i jak jako je jeho jejich jen ještě již jsem
    jsme jsou k kde když ke který která které kteří ma má mezi mi můj na nad ne nebo není než ni o od on ona oni pak
    po pod podle pro proto proč při s se si svůj ta tak také tato tedy ten tento to tohoto tom toto tu ty u už v ve
    však vy z za ze že
    """,
    "turkish": """
    acaba ama ancak artık aslında az bana bazı belki ben beni benim bir biri birkaç birşey biz bize bizi bu buna
    bunda bundan bunu bunun çok çünkü da daha de defa değil diye en eğer gibi hem hep hepsi her hiç için ile ise kez
    ki kim mı mi mu mü nasıl ne neden nerde nerede nereye niçin niye o ona ondan onlar onu onun sanki şey siz şu tüm
    ve veya ya yani
    """,
    "indonesian": """
    ada adalah agar akan aku anda apa atau bagi bahwa banyak baru beberapa belum bisa bukan dalam dan dapat dari
    dengan di dia hanya harus ia ini itu jika juga kami kamu karena ke kepada kita lagi lebih maka masih mereka
    namun oleh pada para saat saja sangat saya sebagai sebuah sedang sehingga semua seperti serta sudah tak telah
    tentang tersebut tidak untuk yaitu yang
    """,
    "catalan": """
    a al als amb aquest aquesta aquests això com d de del dels des doncs el ella ells els em en encara entre era és
    està et ha han hi ho i ja jo l la les li lo més mai mes molt n ni no nosaltres o on per perquè però pot que què
    qui s se sense ser seu seva si són sobre també te tot tu un una uns vostè
    """,
    "greek": """
    αι αλλά αν από αυτά αυτές αυτή αυτό αυτοί αυτός για δε δεν εγώ ένα ένας εγω είναι εκ εκείνα εκείνος επί εσύ έχει
    η θα κ και κάθε κατά μα μας με μετά μη μην μου να ο οι όμως όπως όσο ότι παρά που προς πως σαν σας σε στη στην
    στις στο στον στους τα τη την της τι τις το τον του τους των ως
    """,
    "arabic": """
    أم أن إن أنا أنت أو أي إذا إلا إلى التي الذي الذين ثم حتى عن على عند غير في قد كان كانت كل كما لا لكن لم لن له
    لها ما مع من منذ نحن هذا هذه هل هم هو هي و ولا يا
    """,
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
