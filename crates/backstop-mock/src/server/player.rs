//! Carries out a plan on a connection, byte by byte where faults want it.

use tokio::time::sleep;

use super::{
    connection::{Connection, Gone},
    fault::{Cut, End, Faults, Hold, Pace},
    part::Chunk,
    plan::{Plan, Step},
};

/// How playing a plan came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All bytes were handed to the operating system.
    Complete,
    /// The plan was cut as its faults say.
    Cut(End),
    /// The client went away before that.
    Gone,
}

/// What ends playing early.
enum Stop {
    Gone,
    Cut(End),
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Head,
    Frame,
    Body,
}

const FILL: [u8; 16 * 1024] = [b'a'; 16 * 1024];

pub(super) struct Player<'a> {
    connection: &'a mut Connection,
    faults: &'a Faults,
    /// Bytes sent in all, and of the body alone.
    sent: u64,
    body: u64,
    gates_passed: usize,
}

impl<'a> Player<'a> {
    pub(super) fn new(connection: &'a mut Connection, faults: &'a Faults) -> Self {
        Self { connection, faults, sent: 0, body: 0, gates_passed: 0 }
    }

    /// Plays the plan; also says how many bytes were sent.
    pub(super) async fn play(mut self, plan: &Plan) -> (Outcome, u64) {
        let outcome = match self.play_steps(&plan.steps).await {
            Ok(()) => Outcome::Complete,
            Err(Stop::Cut(end)) => Outcome::Cut(end),
            Err(Stop::Gone) => Outcome::Gone,
        };
        (outcome, self.sent)
    }

    async fn play_steps(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            match step {
                Step::Hold(Hold::Gate(gate)) => self.connection.wait(gate.pass()).await?,
                Step::Hold(Hold::Time(time)) => self.connection.wait(sleep(*time)).await?,
                Step::Head(bytes) => self.write(Region::Head, bytes).await?,
                Step::Frame(bytes) => self.write(Region::Frame, bytes).await?,
                Step::Body(Chunk::Bytes(bytes)) => self.write(Region::Body, bytes).await?,
                Step::Body(Chunk::Fill(length)) => self.fill(*length).await?,
            }
        }
        self.pass_gates().await?;
        self.check_cut(Region::Body)
    }

    async fn fill(&mut self, mut length: u64) -> Result<(), Stop> {
        while length > 0 {
            let block = usize::try_from(length).unwrap_or(FILL.len()).min(FILL.len());
            self.write(Region::Body, FILL.get(..block).unwrap_or_default()).await?;
            length -= block as u64;
        }
        Ok(())
    }

    async fn write(&mut self, region: Region, mut bytes: &[u8]) -> Result<(), Stop> {
        while !bytes.is_empty() {
            if region != Region::Head {
                self.pass_gates().await?;
            }
            self.check_cut(region)?;
            let pace = self.pace(region);
            let (now, later) = bytes.split_at(self.stretch(region, bytes.len(), pace));
            self.connection.write_all(now).await?;
            self.sent += now.len() as u64;
            if region == Region::Body {
                self.body += now.len() as u64;
            }
            bytes = later;
            if let Some(pace) = pace {
                self.connection.wait(sleep(pace.pause)).await?;
            }
        }
        Ok(())
    }

    fn pace(&self, region: Region) -> Option<Pace> {
        if region == Region::Head { self.faults.head_pace } else { self.faults.body_pace }
    }

    /// How many bytes may be written before the next fault is due; at least 1, as none is due now.
    fn stretch(&self, region: Region, length: usize, pace: Option<Pace>) -> usize {
        let mut border = u64::MAX;
        match self.faults.cut {
            Some((Cut::Whole(at), _)) => border = border.min(at.saturating_sub(self.sent)),
            Some((Cut::Body(at), _)) if region == Region::Body => {
                border = border.min(at.saturating_sub(self.body))
            }
            _ => {}
        }
        if let (Some((at, _)), Region::Body) = (self.faults.body_gates.get(self.gates_passed), region) {
            border = border.min(at.saturating_sub(self.body));
        }
        let length = length.min(pace.map_or(usize::MAX, |pace| pace.bytes));
        length.min(usize::try_from(border).unwrap_or(usize::MAX))
    }

    async fn pass_gates(&mut self) -> Result<(), Gone> {
        while let Some((at, gate)) = self.faults.body_gates.get(self.gates_passed) {
            if *at > self.body {
                break;
            }
            self.connection.wait(gate.pass()).await?;
            self.gates_passed += 1;
        }
        Ok(())
    }

    fn check_cut(&self, region: Region) -> Result<(), Stop> {
        match self.faults.cut {
            Some((Cut::Whole(at), end)) if self.sent >= at => Err(Stop::Cut(end)),
            Some((Cut::Body(at), end)) if region != Region::Head && self.body >= at => Err(Stop::Cut(end)),
            _ => Ok(()),
        }
    }
}

/// Brings a connection to its end. `true`: the client is the one who left.
pub(super) async fn finish(mut connection: Connection, end: End) -> bool {
    match end {
        End::Close => false,
        End::Reset => {
            connection.reset();
            false
        }
        End::Hang => {
            connection.until_gone().await;
            drop(connection);
            true
        }
    }
}
