//! Which part of a text is rarest in the outputs of commands.
//!
//! A poor guess costs time, never a finding.

/// How many bits the hash of a group has.
const BITS: u32 = 13;

/// How often groups of three bytes come.
pub(super) struct Rarity {
    /// By the hash of a group, for the groups of the lists below.
    listed: Vec<u16>,
}

impl Default for Rarity {
    fn default() -> Self {
        let mut listed = vec![0; 1 << BITS];
        // What is more common comes last, and counts where two groups have one hash.
        for (rows, commonness) in [(OCCASIONAL, 500), (COMMON, 1500), (VERY_COMMON, 5000)] {
            let groups = rows.iter().flat_map(|row| row.as_bytes().chunks(3));
            for group in groups {
                if let Some(entry) = listed.get_mut(hash(group)) {
                    *entry = commonness;
                }
            }
        }
        Self { listed }
    }
}

impl Rarity {
    /// Returns the five bytes of a text that are rarest elsewhere, and where they start; all of
    /// it where it is shorter.
    pub(super) fn rarest<'a>(&self, text: &'a [u8]) -> (usize, &'a [u8]) {
        let parts = text.windows(5).enumerate();
        parts
            .min_by_key(|(_, part)| self.common(part))
            .unwrap_or((0, text))
    }

    /// Returns how common the two groups are that five bytes are found by, in no unit that means
    /// anything.
    fn common(&self, part: &[u8]) -> u32 {
        let groups = part.windows(3).take(2);
        groups.map(|group| self.commonness(group)).sum()
    }

    fn commonness(&self, group: &[u8]) -> u32 {
        match self.listed.get(hash(group)) {
            Some(0) | None => group.iter().map(|byte| of_byte(*byte)).sum(),
            Some(commonness) => u32::from(*commonness),
        }
    }
}

fn hash(group: &[u8]) -> usize {
    let bytes = group
        .iter()
        .fold(0, |bytes, byte| (bytes << 8) | u32::from(byte | 0x20));
    let hash = bytes.wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    usize::try_from(hash).unwrap_or(0)
}

/// Returns how common a byte is in the outputs of commands: about a logarithm.
fn of_byte(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b'.' | b' ' => 11,
        b'e' | b's' | b't' => 10,
        b'a' | b'i' | b'n' | b'o' | b'r' => 9,
        b'*' | b'-' | b'/' | b'0'..=b'2' | b':' | b'c' | b'd' | b'l' | b'm' | b'p' | b'u' => 8,
        b'_' | b'3'..=b'9' | b';' | b'b' | b'f' | b'g' | b'h' | b'k' => 7,
        b'%' | b')' | b'=' | b'v' | b'w' | b'y' => 6,
        b'\'' | b'(' | b',' | b'>' | b'j' | b'x' | b'|' => 5,
        _ => 4,
    }
}

/// Groups of wanted texts that come more often than once in 1,250 bytes of logs, in rows.
#[rustfmt::skip]
const VERY_COMMON: &[&str] = &[
    r#"    -- co ex in is ok te---.. _paablachackadeallarearnarsassatiblebuicacceicheckecomconcti"#,
    r#"devduleadeameceected eivemsendenter.er:esteteeveferffefigforgemhariceildiliingionis iteive"#,
    r#"jeckerle_linmodmpindeng ninockoduomponfonsoreortoutpanparpilprore/rearecredrenrivrkerocrse"#,
    r#"scasedsersiossest st_stastostrststedtesthotiotorts:uffuiluleuseutivervicwarwor"#,
];

/// Once in 4,000 bytes.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    r#"  f -  ./ 40 as at bu de du fi fo ht no re ru se st su th us wa wi":"** -pa-pr-st500://_de"#,
    r#"aceactageailaliameandarcaseashat at-ateavacalcatce cepcesck-ckaclacordatdeddefdindledore e"#,
    r#"e ie ue: eckecuefiel_epter errertes esset et_expfilfungengeshathechttiffilein ineinsintire"#,
    r#"istithitlittkagl -laglasld le liclidloamenmitmpanednernfonotnstntenusoadodeok on on-oolor "#,
    r#"orgormousownpacpaspecperplepliporppeptirchresronrorrrort rtis ose setshasinsolspaspest.ste"#,
    r#"t ct ot st-atactaltchtectertinto tootratritryts ttettpue:ultuncuneunkunuut_valwit"#,
];

/// Once in 12,500 bytes.
#[rustfmt::skip]
const OCCASIONAL: &[&str] = &[
    r#" 50 a  ac be by er fa ha le lo ma mo na ne of pr to un va"le##{***-- --p-an-cl-li-se.0-.1 "#,
    r#"/1.00 01.06:08.1.01.113416.25225325629.32::33:54::e_pr_se_teaccad adaaddadlakeal.aluannapp"#,
    r#"apsas asiastataatcattaudautbasbygccece:ch chachicodcolcopcrect-ct.curcutd 1d ad bd fd sdap"#,
    r#"ddede decdendepdifdisditdone de se te ve-pe/ee_pe_teacecaecoed:edeediegiel"eliemaemoencepo"#,
    r#"equeraereerferierkerves:esoexcexefaifatff fiefingingligmehanhashelicaictideiluimein-incini"#,
    r#"inviouippit it.ityizek-ck-pl":latlecledleflerlevlitllelocloglteltiluelurmakmanmarmatmetmin"#,
    r#"mismman dn nnabnalnamnconctne nesnitnnennononnt nt:ocaof olloneongookopeoppor-ordorsoryost"#,
    r#"ot ounow patpedpenplupsepulr_dr_pr_wracralraprd-rd_re refrepreqretriaritrjsrmars rterubry "#,
    r#"s as is ns rsecsesshosposs ss:ssistdsucsupsynsyst (t dt et ft it mt pt rt tt wt_ptatte tem"#,
    r#"thithrtimtpstrutstturty ualubyudiuesunduppureus-usiut uteve_velvioxcexecygeyst"#,
];
